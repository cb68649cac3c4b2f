/* SPDX-License-Identifier: MIT */
/*
 * dispatch/pace.h - how long a turn takes on a thread, on average and lately.
 *
 * The thread calls pace_look at each reading of the clock that it needs anyway. The time between
 * two readings counts as busy if the thread took a turn in between; otherwise the thread searched
 * or slept. A mean covers PACE_TURNS turns or PACE_NS of busy time, whichever comes first. Until
 * the first mean, turns count as long, so that other threads take a share of unknown work.
 *
 *           | look | turn_ns
 *   look    |  X   |    -        X = the owner alone; - = any threads at once
 *   turn_ns |  -   |    -
 */
#ifndef DISPATCH_PACE_H
#define DISPATCH_PACE_H

#include <stdatomic.h>
#include <stdint.h>

#define PACE_TURNS 16u   /* fewer than between two checks of a busy thread */
#define PACE_NS 1000000u /* turns that take long are known by the next beat of the timekeeper */

struct pace {
    /* owner */
    uint64_t looked_ns;
    uint64_t looked_turns;
    uint64_t mean_turns; /* at the last mean */
    uint64_t busy_ns;    /* since the last mean */

    _Atomic uint32_t turn_ns; /* written by the owner, read by all */
};

void pace_init(struct pace *pace, uint64_t now_ns);

/* `turns`: how many the thread has taken in all. */
void pace_look(struct pace *pace, uint64_t now_ns, uint64_t turns);

/* The mean; UINT32_MAX also stands for a longer mean, and for an unknown one. */
static inline uint32_t pace_turn_ns(const struct pace *pace)
{
    /* Relaxed: advisory. The timekeeper corrects a decision that was made with an old mean. */
    return atomic_load_explicit(&pace->turn_ns, memory_order_relaxed);
}

#endif
