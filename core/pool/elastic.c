/* SPDX-License-Identifier: MIT */
#include "pool/elastic.h"

#include "actor/runtime.h"
#include "pool/pool.h"

/* --- on and off ----------------------------------------------------------------------------- */

bool elastic_is_active_locked(const struct pool *pool)
{
    return pool->settings.scale.on && !pool->scaler.suspended && pool->spec &&
           !flags_is_closing(&pool->flags);
}

/* A sender that reads an older value asks for a check that does nothing; or it asks for
 * none, and the check of elastic_wake follows. */
void elastic_publish_locked(struct pool *pool)
{
    uint32_t bits = pool->settings.scale.on ? FLAGS_FIRST_IDLE : 0;

    if (elastic_is_active_locked(pool) && !pool->scaler.logged_full)
        bits |= FLAGS_SENSES;
    if (pool->scaler.stuck)
        bits |= FLAGS_STUCK;
    flags_set(&pool->flags, FLAGS_FIRST_IDLE | FLAGS_SENSES | FLAGS_STUCK, bits);
}

bool elastic_is_waited_for(struct pool *pool)
{
    for (; pool; pool = pool->parent)
        if (wait_queue_any(&pool->waiters))
            return true;
    return false;
}

/* As elastic_is_waited_for, behind the locks of the queues. */
static bool is_wanted(struct pool *pool)
{
    for (; pool; pool = pool->parent)
        if (wait_queue_wanted(&pool->waiters) > 0)
            return true;
    return false;
}

/*
 * From now on a sender that is refused asks for a check. One that waits has been refused before: it
 * asks no more, so its wish is noted here. A sender joins a queue, under the lock of that queue,
 * before its second look, which reads the flags. Either this thread locks the queue later, and sees
 * the waiter; or earlier, and the sender sees the flags that were published before. A store of the
 * flags and a load of the queue's count would not do: each side could miss the other.
 */
static void resume_locked(struct pool *pool)
{
    pool->scaler.suspended = false;
    elastic_publish_locked(pool);
    if (elastic_is_active_locked(pool) && is_wanted(pool))
        atomic_store_explicit(&pool->scaler.refused, true, memory_order_seq_cst);
}

void elastic_set_locked(struct pool *pool)
{
    pool->scaler.logged_full = false;
    resume_locked(pool);
}

static void log_change(struct pool *pool, uint32_t size, const char *event, const char *effect)
{
    log_event(&pool->runtime->options.log, WEIR_LOG_INFO, pool->path, event,
              weir_uint("size", size), weir_str("effect", effect));
}

bool elastic_suspend_locked(struct pool *pool)
{
    bool was_active = elastic_is_active_locked(pool);

    pool->scaler.suspended = pool->settings.scale.on;
    pool->scaler.logged_full = false;
    elastic_publish_locked(pool);
    return was_active;
}

void elastic_log_suspended(struct pool *pool, uint32_t size)
{
    log_change(pool, size, "automatic scaling is suspended",
               "the size stays until `weir scale POOL auto`, a call that resumes it, or a reload");
}

int pool_scale_auto(struct pool *pool, struct executor *executor)
{
    bool is_closing, on, resumes;
    uint32_t size;

    lock_acquire(&pool->lock);
    is_closing = flags_is_closing(&pool->flags);
    on = pool->settings.scale.on;
    resumes = pool->scaler.suspended && !is_closing;
    size = pool->target;
    resume_locked(pool);
    lock_release(&pool->lock);
    if (resumes)
        log_change(pool, size, "automatic scaling goes on", "the pool changes its size by itself");
    elastic_wake(pool, executor);
    if (is_closing)
        return WEIR_ECLOSED;
    return on ? 0 : WEIR_EINVALID;
}

const char *pool_scaling_name(const struct pool_scaling *scaling)
{
    if (!scaling->scale.on)
        return "none";
    return scaling->suspended ? "suspended" : "auto";
}

void pool_look_at_scale(struct pool *pool, struct pool_scaling *out)
{
    lock_acquire(&pool->lock);
    out->scale = pool->settings.scale;
    out->suspended = pool->scaler.suspended;
    lock_release(&pool->lock);
}

/* --- senders -------------------------------------------------------------------------------- */

void elastic_notice(struct pool *pool, struct executor *executor)
{
    struct scaler *scaler = &pool->scaler;

    /* [G1] seq_cst, both: the sender has put its message into the pool before. The exchange in
     * scaler_check that resets `asked` comes after a load of true, so that check sees the message.
     * A sender writes this line for the first message after a check only. */
    if (atomic_load_explicit(&scaler->asked, memory_order_seq_cst) ||
        atomic_exchange_explicit(&scaler->asked, true, memory_order_seq_cst))
        return;
    (void)actor_signal(pool->actor, actor_serial_of(pool->pid), executor, SIGNAL_TIME);
}

void elastic_wake(struct pool *pool, struct executor *executor)
{
    /* This thread made the change. */
    if (flags_word(&pool->flags) & FLAGS_FIRST_IDLE)
        elastic_notice(pool, executor);
}

void elastic_starve(struct pool *pool, struct executor *executor)
{
    /* [P1] pairs with members_publish. */
    const struct members *members = atomic_load_explicit(&pool->members, memory_order_acquire);

    if (pool_senses(pool)) {
        /* [G1] seq_cst: before the load in elastic_notice. Written once for each check. */
        if (!atomic_load_explicit(&pool->scaler.refused, memory_order_relaxed))
            atomic_store_explicit(&pool->scaler.refused, true, memory_order_seq_cst);
        elastic_notice(pool, executor);
    }
    /* Depth is bounded by the configuration. */
    for (uint32_t i = 0; i < members->count && members->members[i].pool; i++)
        elastic_starve(members->members[i].pool, executor);
}
