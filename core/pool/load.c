/* SPDX-License-Identifier: MIT */
#include "pool/load.h"

#define READ_MAX 16u    /* workers of a pool that are read for each comparison */
#define PERIOD_MIN 16u  /* comparisons, and microseconds, between two walks */
#define NS_PER_US 1000u /* a walk takes some 10 ns a worker: a hundredth of a CPU at most */

static uint32_t read_worker(struct actor *actor)
{
    /* Relaxed: a look, which may be out of date. */
    return mailbox_waiting(&actor->mailbox) +
           (atomic_load_explicit(&actor->busy, memory_order_relaxed) != ACTOR_FREE);
}

/* Depth is bounded by the configuration. */
static uint32_t walk(const struct members *members, struct executor *executor)
{
    uint32_t sum = 0;

    for (uint32_t i = 0; i < members->count; i++)
        sum += load_read(&members->members[i], executor);
    return sum;
}

static bool is_small(const struct members *members)
{
    return members->count <= READ_MAX && (members->count == 0 || members->members[0].actor);
}

/* Counts a comparison. True when the members are to be walked for it. */
static bool is_due(struct load *load, uint64_t now_ns)
{
    uint32_t looks = atomic_load_explicit(&load->looks, memory_order_relaxed);

    if (looks == 0 || now_ns >= atomic_load_explicit(&load->due_ns, memory_order_relaxed))
        return true;
    atomic_store_explicit(&load->looks, looks - 1, memory_order_relaxed);
    return false;
}

static uint32_t refresh(struct load *load, const struct members *members, struct executor *executor)
{
    uint32_t period = members->count > PERIOD_MIN ? members->count : PERIOD_MIN;
    uint32_t below;

    /* Set first, so that other threads do not walk as well. */
    atomic_store_explicit(&load->looks, period, memory_order_relaxed);
    atomic_store_explicit(&load->due_ns, executor_time(executor) + (uint64_t)period * NS_PER_US,
                          memory_order_relaxed);
    below = walk(members, executor);
    atomic_store_explicit(&load->below, below, memory_order_relaxed);
    return below;
}

static uint32_t count_below(struct pool *pool, const struct members *members,
                            struct executor *executor)
{
    if (is_small(members))
        return walk(members, executor);
    if (is_due(&pool->load, executor_time(executor)))
        return refresh(&pool->load, members, executor);
    return atomic_load_explicit(&pool->load.below, memory_order_relaxed);
}

uint32_t load_read(const struct member *member, struct executor *executor)
{
    struct pool *pool = member->pool;

    if (!pool)
        return read_worker(member->actor);
    return atomic_load_explicit(&pool->owner.waiting, memory_order_relaxed) +
           /* [P1] pairs with members_publish. */
           count_below(pool, atomic_load_explicit(&pool->members, memory_order_acquire), executor);
}

void load_add(struct pool *pool)
{
    atomic_store_explicit(&pool->load.below,
                          atomic_load_explicit(&pool->load.below, memory_order_relaxed) + 1,
                          memory_order_relaxed);
}
