#include "embed/use.h"

#include <stdlib.h>
#include <string.h>

#define OUTPUTS_MAX 1024 /* a sane behaviour has a handful */

/* Lives as long as the spec. */
struct use {
    struct weir_behaviour behaviour;
    void *settings;
    void (*release)(void *settings);
};

void use_copy(void *known, size_t known_size, const void *given, uint32_t size)
{
    memset(known, 0, known_size);
    memcpy(known, given, size < known_size ? size : known_size);
}

static void release_use(void *owner)
{
    struct use *use = owner;

    if (use->release)
        use->release(use->settings);
    free(use);
}

int use_create_spec(const struct use_options *options, struct spec **out)
{
    struct spec *spec;
    struct use *use;

    if (!options->behaviour || options->behaviour_size < USE_BEHAVIOUR_SIZE_MIN)
        return WEIR_EINVALID;
    use = calloc(1, sizeof *use);
    if (!use)
        return WEIR_ENOMEM;
    use_copy(&use->behaviour, sizeof use->behaviour, options->behaviour, options->behaviour_size);
    use->settings = (void *)(uintptr_t)options->settings;
    spec = spec_create(&use->behaviour, options->settings);
    if (!spec) {
        free(use);
        return WEIR_ENOMEM;
    }
    spec->release = release_use;
    spec->owner = use;
    *out = spec;
    return 0;
}

void use_take_settings(struct spec *spec, void (*release)(void *settings))
{
    ((struct use *)spec->owner)->release = release;
}

int use_create_wiring(const struct weir_binding *outputs, uint32_t count, uint32_t binding_size,
                      struct wiring **out)
{
    struct wiring *wiring;

    if (count > OUTPUTS_MAX || (count && (!outputs || binding_size < sizeof *outputs)))
        return WEIR_EINVALID;
    for (uint32_t i = 0; i < count; i++) {
        struct weir_binding binding;

        use_copy(&binding, sizeof binding, (const char *)outputs + (size_t)i * binding_size,
                 binding_size);
        if (binding.when_full > WEIR_FULL_DEAD_LETTER)
            return WEIR_EINVALID;
    }
    wiring = wiring_create(count);
    if (!wiring)
        return WEIR_ENOMEM;
    for (uint32_t i = 0; i < count; i++) {
        struct weir_binding binding;

        use_copy(&binding, sizeof binding, (const char *)outputs + (size_t)i * binding_size,
                 binding_size);
        wiring->bindings[i] = (struct binding){ binding.target, binding.when_full };
    }
    *out = wiring;
    return 0;
}
