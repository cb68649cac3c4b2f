/*
 * actor/callback.h - around every call into a behaviour.
 *
 * A callback that may block takes its thread off-line for reclamation and hands the thread's other
 * work to the rest of the dispatcher; each call into the host takes it on-line for its length. Any
 * other callback holds reclamation up only until the timekeeper finds that it takes long.
 */
#ifndef ACTOR_CALLBACK_H
#define ACTOR_CALLBACK_H

#include "actor/place.h"

/* The present message is the one in hand, if there is one. */
static inline void callback_note(const struct actor *actor, struct note *note)
{
    const struct place *place = actor->place;

    note->label = actor->spec->label;
    note->place = place ? place->label : NULL;
    note->worker = place ? place->index : 0;
    note->tag = actor->current ? actor->current->public.tag : NULL;
    note->inside = true;
}

/* After callback_begin, if it was not one that may. */
static inline void callback_may_block(struct actor *actor)
{
    struct executor *executor = actor->executor;

    if (executor->blocking)
        return;
    executor_leave_callback(executor);
    executor->blocking = true;
    /* Relaxed: for the timekeeper, which leaves this thread alone. */
    atomic_store_explicit(&executor->where, EXECUTOR_IN_BLOCKING, memory_order_relaxed);
    reader_offline(&executor->reader);
}

static inline void callback_begin(struct actor *actor)
{
    struct executor *executor = actor->executor;

    executor->current = actor;
    callback_note(actor, executor->note);
    if (actor->spec->behaviour->flags & WEIR_BLOCKING)
        callback_may_block(actor);
    else
        executor_enter_callback(executor);
}

static inline void callback_end(struct actor *actor)
{
    struct executor *executor = actor->executor;

    executor_leave_callback(executor);
    if (executor->blocking) {
        reader_online(&executor->reader);
        executor->blocking = false;
    }
    executor->current = NULL;
    executor->note->inside = false; /* the rest stays: a later crash may come of it */
}

/* Around each call into the host. */
static inline struct actor *callback_enter_host(struct weir_self *self)
{
    struct actor *actor = actor_of_self(self);

    if (actor->executor->blocking)
        reader_online(&actor->executor->reader);
    else
        executor_leave_callback(actor->executor);
    return actor;
}

static inline void callback_leave_host(struct actor *actor)
{
    if (actor->executor->blocking)
        reader_offline(&actor->executor->reader);
    else
        executor_enter_callback(actor->executor);
}

#endif
