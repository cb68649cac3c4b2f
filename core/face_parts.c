/* SPDX-License-Identifier: MIT */
/* Specs and wirings, from which parts are made: face/parts.h. */
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
    spec->in_order = spec->in_order || options->in_order;
    if (options->restart)
        spec->restart = *options->restart;
    if (options->retry)
        spec->retry = *options->retry;
    if ((options->plugin && spec_make_label(spec, &runtime->tags) != 0) ||
        spec_set_poison(spec, options->poison, options->poison_count) != 0) {
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

uint32_t wiring_count(const struct wiring *wiring)
{
    return wiring->count;
}

int wiring_keep_rates(struct wiring *wiring, struct wiring_slot *slot)
{
    const struct wiring *present = wiring_get(slot);
    int status = 0;

    for (uint32_t i = 0; i < wiring->count && i < present->count && status == 0; i++)
        if (wiring_tokens(present, i))
            status = wiring_set_rate(wiring, i, &present->throttles[i].rate);
    return status;
}

struct wiring *wiring_copy(struct wiring_slot *slot)
{
    const struct wiring *present = wiring_get(slot);
    struct wiring *copy = wiring_make(present->bindings, present->count);

    if (!copy || wiring_keep_rates(copy, slot) == 0)
        return copy;
    wiring_destroy(copy);
    return NULL;
}
