/* SPDX-License-Identifier: MIT */
#include "embed/use.h"

#include <stdlib.h>
#include <string.h>

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

int use_create_spec(struct weir_runtime *runtime, const struct use_options *options,
                    struct spec **out_spec, struct use **out_use)
{
    struct spec_options made_of = { .release = release_use,
                                    .settings = options->settings,
                                    .redeliver_max = options->redeliver_max,
                                    .restart = options->restart,
                                    .retry = options->retry };
    struct use *use;
    int status;

    use = calloc(1, sizeof *use);
    if (!use)
        return WEIR_ENOMEM;
    use_copy(&use->behaviour, sizeof use->behaviour, options->behaviour, options->behaviour_size);
    use->settings = (void *)(uintptr_t)options->settings;
    made_of.behaviour = &use->behaviour;
    made_of.owner = use;
    status = spec_make(runtime->core, &made_of, out_spec);
    if (status != 0) {
        free(use);
        return status;
    }
    *out_use = use;
    return 0;
}

int use_create_bindings(const struct weir_binding *outputs, uint32_t count, uint32_t binding_size,
                        struct binding **out)
{
    struct binding *bindings = calloc((size_t)count + 1, sizeof *bindings);

    if (!bindings)
        return WEIR_ENOMEM;
    for (uint32_t i = 0; i < count; i++) {
        struct weir_binding binding;

        use_copy(&binding, sizeof binding, (const char *)outputs + (size_t)i * binding_size,
                 binding_size);
        bindings[i] = (struct binding){ binding.target, binding.when_full };
    }
    *out = bindings;
    return 0;
}
