#include "pool/subscription.h"

#include "runtime.h"

int subscription_set(struct pool *pool, struct executor *executor, const struct weir_list *names,
                     bool fan_out)
{
    int status = 0;

    if (names->count == 0 && !atomic_load_explicit(&pool->has_subscribed, memory_order_acquire))
        return 0;
    atomic_store_explicit(&pool->has_subscribed, true, memory_order_release);
    events_keep_only(pool->runtime, executor, pool->pid, names->items, names->count);
    for (size_t i = 0; i < names->count && status == 0; i++)
        status = events_subscribe(pool->runtime, executor, names->items[i], pool->pid, fan_out);
    return status;
}
