/* SPDX-License-Identifier: MIT */
#include "actor/actor.h"

#include "message/control_queue.h"

int actor_signal(struct actor *actor, uint32_t serial, struct executor *executor, uint32_t bits)
{
    bool wake;
    int status = control_queue_signal(&actor->mailbox, serial, bits, &wake);

    if (status != 0)
        return status;
    if (wake)
        actor_wake(actor, executor);
    else
        actor_call(actor);
    return 0;
}
