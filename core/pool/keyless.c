/* SPDX-License-Identifier: MIT */
#include "pool/keyless.h"

#include "actor/runtime.h"
#include "pool/pool.h"

#define OUTSIDE 1 /* no actor has this PID */

/* True when the log has no line about this sender yet. Relaxed: the field only keeps the log short.
 * When an outbox is sent again, outside a callback, the sender is not known: that case is logged
 * only when there is no line at all. */
static bool is_news(struct pool *pool, const struct actor *sender)
{
    weir_pid before = 0;

    if (!sender)
        return atomic_compare_exchange_strong_explicit(&pool->keyless_sender, &before, OUTSIDE,
                                                       memory_order_relaxed, memory_order_relaxed);
    before = atomic_exchange_explicit(&pool->keyless_sender, actor_pid(sender),
                                      memory_order_relaxed);
    return before != actor_pid(sender);
}

void keyless_log(struct pool *pool, const struct executor *executor)
{
    const struct actor *sender = atomic_load_explicit(&executor->current, memory_order_relaxed);

    if (!is_news(pool, sender))
        return;
    log_event(&pool->runtime->options.log, WEIR_LOG_ERROR, pool->path,
              "a message without a key, and the pool routes by hash",
              weir_str("from", sender ? place_path(sender) : "-"),
              weir_str("effect", "the pool does not take it; set message->key (weir_key), or give "
                                 "it another route"));
}
