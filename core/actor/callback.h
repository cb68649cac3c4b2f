/*
 * actor/callback.h - around every call into a behaviour.
 *
 * A callback that may block takes its thread off-line for reclamation and hands the thread's other
 * work to the rest of the dispatcher; each call into the host takes it on-line for its length.
 */
#ifndef ACTOR_CALLBACK_H
#define ACTOR_CALLBACK_H

#include "actor/actor.h"

static inline void callback_begin(struct actor *actor)
{
    struct executor *executor = actor->executor;

    executor->current = actor;
    if (actor->spec->behaviour->flags & WEIR_BLOCKING) {
        executor->blocking = true;
        reader_offline(&executor->reader);
    }
}

static inline void callback_end(struct actor *actor)
{
    struct executor *executor = actor->executor;

    if (executor->blocking) {
        reader_online(&executor->reader);
        executor->blocking = false;
    }
    executor->current = NULL;
}

/* Around each call into the host. */
static inline struct actor *callback_enter_host(struct weir_self *self)
{
    struct actor *actor = actor_of_self(self);

    if (actor->executor->blocking)
        reader_online(&actor->executor->reader);
    return actor;
}

static inline void callback_leave_host(struct actor *actor)
{
    if (actor->executor->blocking)
        reader_offline(&actor->executor->reader);
}

#endif
