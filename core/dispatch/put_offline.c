/* SPDX-License-Identifier: MIT */
#include "dispatch/put_offline.h"

#include "dispatch/barrier.h"
#include "dispatch/layout.h"

static uint32_t where_is(struct executor *executor)
{
    /* Acquire pairs with the releases in executor_enter_callback and callback.c. */
    return atomic_load_explicit(&executor->where, memory_order_acquire);
}

static bool is_in_callback(struct executor *executor)
{
    return where_is(executor) == EXECUTOR_IN_CALLBACK;
}

static bool is_in_any_callback(struct executor *executor)
{
    uint32_t where = where_is(executor);

    return where == EXECUTOR_IN_CALLBACK || where == EXECUTOR_IN_BLOCKING;
}

static bool is_put_offline(struct executor *executor)
{
    return atomic_load_explicit(&executor->put_offline, memory_order_relaxed);
}

/* [X1] If it is still in a callback, the owner sees `put_offline` when the callback returns, and
 * waits for the lock. */
static bool put_offline_locked(struct executor *executor, bool (*is_in)(struct executor *executor))
{
    atomic_store_explicit(&executor->put_offline, true, memory_order_seq_cst);
    if (barrier_everywhere() && is_in(executor)) {
        reader_offline(&executor->reader);
        return true;
    }
    atomic_store_explicit(&executor->put_offline, false, memory_order_relaxed);
    return false;
}

void executor_try_put_offline(struct executor *executor)
{
    if (!is_in_callback(executor) || is_put_offline(executor))
        return;
    lock_acquire(&executor->offline_lock);
    if (!is_put_offline(executor)) /* another thread may have done it since */
        (void)put_offline_locked(executor, is_in_callback);
    lock_release(&executor->offline_lock);
}

bool executor_try_hold(struct executor *executor)
{
    if (!is_in_any_callback(executor))
        return false;
    lock_acquire(&executor->offline_lock);
    /* Under the lock: the owner has not been back since it was put off-line. */
    if (is_put_offline(executor) || put_offline_locked(executor, is_in_any_callback))
        return true;
    lock_release(&executor->offline_lock);
    return false;
}

void executor_release(struct executor *executor)
{
    lock_release(&executor->offline_lock);
}

void executor_go_online(struct executor *executor)
{
    lock_acquire(&executor->offline_lock);
    if (is_put_offline(executor))
        reader_online(&executor->reader);
    atomic_store_explicit(&executor->put_offline, false, memory_order_relaxed);
    lock_release(&executor->offline_lock);
}
