/* SPDX-License-Identifier: MIT */
#include "actor/outbox.h"

#include <stdlib.h>

#include "actor/runtime.h"
#include "message/control_queue.h"

/* There is room for which the actor waits: wakes it. */
static void wake(struct waiter *waiter, struct executor *executor)
{
    struct actor *actor = LIST_ENTRY(waiter, struct outbox, waiter)->actor;
    uint32_t serial = actor_serial_of(actor_pid(actor));
    bool asleep;

    if (control_queue_signal(&actor->mailbox, serial, SIGNAL_ROOM, &asleep) != 0)
        return;
    if (asleep)
        executor_submit_behind(executor, actor->dispatcher, &actor->schedulable);
    else
        actor_call(actor);
}

struct outbox *outbox_create(struct actor *actor)
{
    struct outbox *outbox = calloc(1, sizeof *outbox);

    if (!outbox)
        return NULL;
    outbox->actor = actor;
    waiter_init(&outbox->waiter, wake);
    return outbox;
}

void outbox_destroy(struct outbox *outbox)
{
    if (outbox)
        tokens_leave(&outbox->token_wait);
    free(outbox);
}

uint32_t outbox_next_output(const struct outbox *outbox)
{
    const struct message_queue *next = outbox->copies.count > 0 ? &outbox->copies.queue
                                                                : &outbox->waiting.queue;

    return message_queue_first(next)->output;
}
