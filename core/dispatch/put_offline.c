#include "dispatch/put_offline.h"

#include "dispatch/barrier.h"
#include "dispatch/layout.h"

static bool is_in_callback(struct executor *executor)
{
    /* Acquire pairs with the release in executor_enter_callback. */
    return atomic_load_explicit(&executor->where, memory_order_acquire) == EXECUTOR_IN_CALLBACK;
}

void executor_try_put_offline(struct executor *executor)
{
    if (!is_in_callback(executor) ||
        atomic_load_explicit(&executor->put_offline, memory_order_relaxed))
        return;
    lock_acquire(&executor->offline_lock);
    atomic_store_explicit(&executor->put_offline, true, memory_order_seq_cst);
    /* [X1] Still in a callback: the owner sees `put_offline` when the callback returns, and waits.
     * */
    if (barrier_everywhere() && is_in_callback(executor))
        reader_offline(&executor->reader);
    else
        atomic_store_explicit(&executor->put_offline, false, memory_order_relaxed);
    lock_release(&executor->offline_lock);
}

void executor_go_online(struct executor *executor)
{
    lock_acquire(&executor->offline_lock);
    if (atomic_load_explicit(&executor->put_offline, memory_order_relaxed))
        reader_online(&executor->reader);
    atomic_store_explicit(&executor->put_offline, false, memory_order_relaxed);
    lock_release(&executor->offline_lock);
}
