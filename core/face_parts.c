/* What parts are made of: face/parts.h. */
#include <string.h>

#include "actor/runtime.h"
#include "actor/spec.h"
#include "actor/wiring.h"

int spec_make(struct runtime *runtime, const struct spec_options *options, struct spec **out)
{
    struct spec *spec = spec_create(options->behaviour, options->settings);

    if (!spec)
        return WEIR_ENOMEM;
    if (options->plugin)
        spec->plugin = options->plugin;
    spec->version = options->version;
    spec->generation = options->generation;
    spec->redeliver_max = options->redeliver_max;
    if (options->restart)
        spec->restart = *options->restart;
    if (options->plugin && spec_make_label(spec, &runtime->tags) != 0) {
        spec_unref(spec);
        return WEIR_ENOMEM;
    }
    spec->release = options->release;
    spec->owner = options->owner;
    *out = spec;
    return 0;
}

struct wiring *wiring_make(const struct binding *bindings, uint32_t count)
{
    struct wiring *wiring = wiring_create(count);

    if (wiring && count > 0)
        memcpy(wiring->bindings, bindings, count * sizeof *bindings);
    return wiring;
}
