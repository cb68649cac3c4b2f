/* SPDX-License-Identifier: MIT */
/*
 * actor/unpack.h - what leaves a mailbox, as a message: see message/packed.h.
 */
#ifndef ACTOR_UNPACK_H
#define ACTOR_UNPACK_H

#include <sched.h>

#include "actor/runtime.h"
#include "message/message.h"
#include "message/packed.h"

/* Waits for memory: the task was accepted. */
static inline struct message *unpack_task(struct executor *executor, struct message *packed)
{
    const struct runtime *runtime = executor->runtime;
    struct message *message;

    while (!(message = message_create(&executor->cache, runtime->task_tag, PACKED_PAYLOAD)))
        (void)sched_yield();
    packed_open(packed, message);
    return message;
}

/* Takes what a mailbox returned, NULL too, and returns the message. `executor` is the calling
 * thread's. */
static inline struct message *unpack(struct executor *executor, struct message *message)
{
    if (!message || __builtin_expect(!packed_is(message), true))
        return message;
    return unpack_task(executor, message);
}

#endif
