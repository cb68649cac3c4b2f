#include "actor/callback.h"

void callback_may_block(struct actor *actor)
{
    struct executor *executor = actor->executor;

    if (executor->blocking)
        return;
    executor_leave_callback(executor);
    executor->blocking = true;
    /* Relaxed: for the timekeeper, which ignores this thread. */
    atomic_store_explicit(&executor->where, EXECUTOR_IN_BLOCKING, memory_order_relaxed);
    reader_offline(&executor->reader);
}

void callback_has_blocked(struct executor *executor)
{
    reader_online(&executor->reader);
    executor->blocking = false;
}

void callback_go_online(struct executor *executor)
{
    reader_online(&executor->reader);
}

void callback_go_offline(struct executor *executor)
{
    reader_offline(&executor->reader);
}
