/* SPDX-License-Identifier: MIT */
#include "dispatch/watchdog.h"

#include <string.h>

void watchdog_init(struct watchdog *watchdog)
{
    memset(watchdog, 0, sizeof *watchdog);
}

/* True when the thread may have begun its present turn since the last check. */
static bool is_new_turn(const struct watchdog_sight *sight, uint64_t turns)
{
    return sight->since_ns == 0 || sight->turns != turns;
}

/* True when the thread has been in one turn for `limit_ns`, which was not reported yet. */
static bool is_too_long(struct watchdog_sight *sight, struct dispatcher *dispatcher, uint32_t index,
                        uint64_t now_ns, uint64_t limit_ns)
{
    /* Relaxed: only compared for change. */
    uint64_t turns = atomic_load_explicit(&dispatcher_executor(dispatcher, index)->turns,
                                          memory_order_relaxed);

    if (idle_is_parked(&dispatcher->idle, index)) {
        *sight = (struct watchdog_sight){ 0 };
        return false;
    }
    if (is_new_turn(sight, turns)) {
        *sight = (struct watchdog_sight){ .turns = turns, .since_ns = now_ns ? now_ns : 1 };
        return false;
    }
    return !sight->reported && now_ns - sight->since_ns >= limit_ns;
}

uint32_t watchdog_check(struct watchdog *watchdog, struct dispatcher *dispatcher, uint64_t now_ns,
                        uint64_t limit_ns, uint64_t *out_ns)
{
    uint32_t count = dispatcher_slot_count(dispatcher);

    for (uint32_t i = 0; i < count; i++) {
        struct watchdog_sight *sight = &watchdog->sights[i];

        if (!is_too_long(sight, dispatcher, i, now_ns, limit_ns))
            continue;
        sight->reported = true;
        *out_ns = now_ns - sight->since_ns;
        return i;
    }
    return IDLE_NOBODY;
}

bool watchdog_sees_turn(const struct watchdog *watchdog, struct dispatcher *dispatcher)
{
    uint32_t count = dispatcher_slot_count(dispatcher);

    for (uint32_t i = 0; i < count; i++)
        if (watchdog->sights[i].since_ns && !watchdog->sights[i].reported)
            return true;
    return false;
}
