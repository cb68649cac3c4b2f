/*
 * actor/callback.h - the code around every call into a behaviour.
 *
 * Before a callback that may block, the thread goes off-line for reclamation and hands its other
 * work to the rest of the dispatcher; it is on-line during each host call. Any other callback
 * delays reclamation only until the timekeeper finds that it takes long.
 */
#ifndef ACTOR_CALLBACK_H
#define ACTOR_CALLBACK_H

#include "actor/place.h"

/* The present message is the one in hand, if any. */
static inline void callback_note(const struct actor *actor, struct note *note)
{
    const struct place *place = actor->place;

    note->label = actor->spec->label;
    note->place = place ? place->label : NULL;
    note->worker = place ? place->index : 0;
    note->tag = actor->current ? actor->current->public.tag : NULL;
    note->inside = true;
}

/* After callback_begin, for a callback that may block unlike the others. */
static inline void callback_may_block(struct actor *actor)
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
    executor->note->inside = false; /* the rest stays, for a later crash that it causes */
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
