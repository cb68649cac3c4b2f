/*
 * actor/unpack.h - what leaves a mailbox, as a message: see message/packed.h.
 */
#ifndef ACTOR_UNPACK_H
#define ACTOR_UNPACK_H

#include "actor/runtime.h"
#include "message/packed.h"

/* Takes what a mailbox returned, NULL too, and returns the message. `executor` is the calling
 * thread's. */
static inline struct message *unpack(struct executor *executor, struct message *message)
{
    const struct runtime *runtime = executor->runtime;

    if (!message || __builtin_expect(!packed_is(message), true))
        return message;
    return packed_open(&executor->cache, runtime->task_tag, message);
}

#endif
