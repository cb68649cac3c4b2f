/* SPDX-License-Identifier: MIT */
#include "actor/callback.h"

void callback_may_block(struct actor *actor)
{
    struct executor *executor = actor->executor;

    if (executor->blocking)
        return;
    executor_leave_callback(executor);
    executor->blocking = true;
    callback_go_offline(executor);
}

void callback_has_blocked(struct executor *executor)
{
    reader_online(&executor->reader);
    executor->blocking = false;
}

void callback_go_online(struct executor *executor)
{
    executor_come_back(executor, EXECUTOR_CALLED_BLOCKING);
    reader_online(&executor->reader);
}

void callback_go_offline(struct executor *executor)
{
    reader_offline(&executor->reader);
    /* Release: see executor_enter_callback. */
    atomic_store_explicit(&executor->where, EXECUTOR_IN_BLOCKING, memory_order_release);
}
