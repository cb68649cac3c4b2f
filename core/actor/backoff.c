/* SPDX-License-Identifier: MIT */
#include "actor/backoff.h"

#include "actor/spec.h"

#define NS_PER_MS 1000000u

/* After a pause, only `within` in state OPEN resets the count: the pause itself does not. */
static bool is_forgotten(const struct backoff *backoff, const struct restart *restart,
                         uint64_t now_ns)
{
    uint64_t within_ns = restart->within_ms * NS_PER_MS;

    if (backoff->pause_ms == 0)
        return now_ns - backoff->window_start_ns > within_ns;
    return backoff->well_since_ns && now_ns >= backoff->well_since_ns + within_ns;
}

/* Counts a failure. True: the actor failed more often than `restart` allows. */
static bool count_failure(struct backoff *backoff, const struct restart *restart, uint64_t now_ns)
{
    if (is_forgotten(backoff, restart, now_ns))
        *backoff = (struct backoff){ .window_start_ns = now_ns };
    backoff->well_since_ns = 0;
    return ++backoff->failures > restart->max;
}

static uint64_t next_pause_ms(struct backoff *backoff, const struct restart *restart)
{
    uint64_t next_ms = backoff->pause_ms * 2;

    if (next_ms > restart->backoff_ms_max)
        next_ms = restart->backoff_ms_max;
    if (next_ms < restart->backoff_ms_min)
        next_ms = restart->backoff_ms_min;
    backoff->pause_ms = next_ms;
    return next_ms;
}

struct backoff_decision backoff_decide(struct backoff *backoff, const struct restart *restart,
                                       bool was_open, uint64_t now_ns)
{
    bool too_often = count_failure(backoff, restart, now_ns);

    if (!too_often && was_open)
        return (struct backoff_decision){ .answer = BACKOFF_AT_ONCE };
    if (too_often && restart->then == WEIR_RESTART_STOP)
        return (struct backoff_decision){ .answer = BACKOFF_STOP };
    if (too_often && restart->then == WEIR_RESTART_ESCALATE)
        return (struct backoff_decision){ .answer = BACKOFF_ESCALATE };
    return (struct backoff_decision){ BACKOFF_PAUSE, next_pause_ms(backoff, restart) };
}

void backoff_open(struct backoff *backoff, uint64_t now_ns)
{
    if (backoff->well_since_ns == 0)
        backoff->well_since_ns = now_ns;
}
