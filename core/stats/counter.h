/* SPDX-License-Identifier: MIT */
/*
 * stats/counter.h - a figure that any thread adds to, without one line that all of them write.
 *
 * It has a few shards, each on a line of its own. A thread adds to the shard of its number; with
 * more threads than shards some share one. The sum is exact when no thread adds at the same time.
 *
 * Any thread, any operation.
 */
#ifndef STATS_COUNTER_H
#define STATS_COUNTER_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdint.h>

#define COUNTER_SHARDS 8u /* half a kibibyte: a pool has one such counter */

struct counter_shard {
    alignas(64) _Atomic uint64_t count;
};

/* Zeros at first. */
struct counter {
    struct counter_shard shards[COUNTER_SHARDS];
};

/* `thread` is a small number that few other threads have, such as that of a reader. Relaxed: a
 * figure for people, which orders nothing. */
static inline void counter_add(struct counter *counter, uint32_t thread, uint64_t number)
{
    atomic_fetch_add_explicit(&counter->shards[thread % COUNTER_SHARDS].count, number,
                              memory_order_relaxed);
}

static inline uint64_t counter_sum(struct counter *counter)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < COUNTER_SHARDS; i++)
        sum += atomic_load_explicit(&counter->shards[i].count, memory_order_relaxed);
    return sum;
}

#endif
