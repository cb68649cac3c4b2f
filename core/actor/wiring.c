/* SPDX-License-Identifier: MIT */
#include "actor/wiring.h"

#include <stddef.h>
#include <stdlib.h>

#include "actor/tokens.h"
#include "dispatch/executor.h"

struct wiring *wiring_create(uint32_t count)
{
    struct wiring *wiring = calloc(1, sizeof *wiring + count * sizeof wiring->bindings[0]);

    if (wiring)
        wiring->count = count;
    return wiring;
}

void wiring_destroy(struct wiring *wiring)
{
    if (!wiring)
        return;
    for (uint32_t i = 0; wiring->throttles && i < wiring->count; i++)
        tokens_unref(wiring->throttles[i].tokens);
    free(wiring->throttles);
    free(wiring);
}

int wiring_set_rate(struct wiring *wiring, uint32_t output, const struct rate *rate)
{
    struct tokens *tokens = NULL;

    if (!wiring->throttles)
        wiring->throttles = calloc(wiring->count, sizeof *wiring->throttles);
    if (!wiring->throttles)
        return WEIR_ENOMEM;
    if (rate->messages) {
        tokens = tokens_create(rate);
        if (!tokens)
            return WEIR_ENOMEM;
    }
    tokens_unref(wiring->throttles[output].tokens);
    wiring->throttles[output] = (struct throttle){ *rate, tokens };
    return 0;
}

void wiring_share_tokens(struct wiring *wiring, uint32_t to, const struct wiring *former,
                         uint32_t from)
{
    struct tokens *kept = wiring_tokens(former, from);

    if (!kept || !wiring_tokens(wiring, to))
        return;
    tokens_unref(wiring->throttles[to].tokens);
    wiring->throttles[to].tokens = tokens_ref(kept);
}

void wiring_apply_rates(const struct wiring *wiring, uint64_t now_ns)
{
    for (uint32_t i = 0; wiring->throttles && i < wiring->count; i++)
        if (wiring->throttles[i].tokens)
            tokens_set_rate(wiring->throttles[i].tokens, now_ns, &wiring->throttles[i].rate);
}

/* Between two wirings of the same outputs. */
static void keep_tokens(struct wiring *next, const struct wiring *former, struct executor *executor)
{
    if (!next->throttles)
        return;
    for (uint32_t i = 0; i < next->count && i < former->count; i++)
        wiring_share_tokens(next, i, former, i);
    wiring_apply_rates(next, executor_look_at_clock(executor));
}

static void free_wiring(struct retired *retired, struct reader *reader)
{
    (void)reader;
    wiring_destroy((struct wiring *)(void *)((char *)retired - offsetof(struct wiring, retired)));
}

void wiring_publish(struct wiring_slot *slot, struct wiring *next, struct executor *executor)
{
    /* Acquire pairs with [W1] of the thread that published it. */
    struct wiring *old = atomic_load_explicit(&slot->wiring, memory_order_acquire);

    if (old)
        keep_tokens(next, old, executor);
    /* [W1] */
    old = atomic_exchange_explicit(&slot->wiring, next, memory_order_acq_rel);
    if (!old)
        return;
    old->retired.free = free_wiring;
    reader_retire(&executor->reader, &old->retired);
}
