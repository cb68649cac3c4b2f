/* SPDX-License-Identifier: MIT */
#include "pool/subscription.h"

#include "actor/events.h"
#include "actor/runtime.h"

/* True when the pool has, or may have, subscriptions. */
static bool is_concerned(const struct pool *pool)
{
    return atomic_load_explicit(&pool->has_subscribed, memory_order_acquire);
}

int subscription_prepare(struct pool *pool, struct executor *executor,
                         const struct weir_list *names)
{
    int status = 0;

    /* set before the first subscription: the end of the pool checks it, and removes all */
    if (names->count > 0)
        atomic_store_explicit(&pool->has_subscribed, true, memory_order_release);
    for (size_t i = 0; i < names->count && status == 0; i++)
        status = events_reserve(pool->runtime, executor, names->items[i], pool->pid);
    return status;
}

void subscription_commit(struct pool *pool, struct executor *executor,
                         const struct weir_list *names, bool fan_out)
{
    if (is_concerned(pool))
        events_replace(pool->runtime, executor, pool->pid, names->items, names->count, fan_out);
}

void subscription_abort(struct pool *pool, struct executor *executor)
{
    if (is_concerned(pool))
        events_unreserve(pool->runtime, executor, pool->pid);
}

int subscription_set(struct pool *pool, struct executor *executor, const struct weir_list *names,
                     bool fan_out)
{
    int status = subscription_prepare(pool, executor, names);

    if (status == 0)
        subscription_commit(pool, executor, names, fan_out);
    else
        subscription_abort(pool, executor);
    return status;
}
