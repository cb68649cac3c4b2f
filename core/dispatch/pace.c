/* SPDX-License-Identifier: MIT */
#include "dispatch/pace.h"

void pace_init(struct pace *pace, uint64_t now_ns)
{
    *pace = (struct pace){ .looked_ns = now_ns };
    atomic_init(&pace->turn_ns, UINT32_MAX);
}

static void make_mean(struct pace *pace, uint64_t turns)
{
    uint64_t mean = pace->busy_ns / (turns - pace->mean_turns);

    atomic_store_explicit(&pace->turn_ns, mean < UINT32_MAX ? (uint32_t)mean : UINT32_MAX,
                          memory_order_relaxed);
    pace->mean_turns = turns;
    pace->busy_ns = 0;
}

void pace_look(struct pace *pace, uint64_t now_ns, uint64_t turns)
{
    if (turns != pace->looked_turns)
        pace->busy_ns += now_ns - pace->looked_ns;
    pace->looked_ns = now_ns;
    pace->looked_turns = turns;
    if (turns - pace->mean_turns >= PACE_TURNS ||
        (pace->busy_ns >= PACE_NS && turns != pace->mean_turns))
        make_mean(pace, turns);
}
