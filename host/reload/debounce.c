/* SPDX-License-Identifier: MIT */
#include "host/reload/debounce.h"

void debounce_reset(struct debounce *debounce, uint64_t acted)
{
    *debounce = (struct debounce){ .acted = acted, .seen = acted };
}

/* Changed back: counts as no change. */
static bool rests_as_it_was(struct debounce *debounce, uint64_t seen)
{
    if (seen != debounce->acted)
        return false;
    debounce->pending = false;
    debounce->seen = seen;
    return true;
}

bool debounce_look(struct debounce *debounce, uint64_t seen, uint64_t now_ms, uint64_t *out_wait_ms)
{
    *out_wait_ms = 0;
    if (rests_as_it_was(debounce, seen))
        return false;
    if (!debounce->pending)
        debounce->first_ms = now_ms;
    if (!debounce->pending || seen != debounce->seen)
        debounce->since_ms = now_ms;
    debounce->pending = true;
    debounce->seen = seen;
    if (now_ms - debounce->since_ms < DEBOUNCE_MS &&
        now_ms - debounce->first_ms < DEBOUNCE_MAX_MS) {
        *out_wait_ms = DEBOUNCE_MS - (now_ms - debounce->since_ms);
        return false;
    }
    debounce_reset(debounce, seen);
    return true;
}
