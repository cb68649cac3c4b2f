/* SPDX-License-Identifier: MIT */
/*
 * actor/callback.h - the code around every call into a behaviour.
 *
 * Before a callback that may block, the thread goes off-line for reclamation and passes its other
 * work to the other threads of the dispatcher. During each host call it is on-line. Any other
 * callback delays reclamation only until the timekeeper finds that it takes long.
 */
#ifndef ACTOR_CALLBACK_H
#define ACTOR_CALLBACK_H

#include "actor/place.h"
#include "base/lock.h"

/* Writes the actor into the crash note. Before the first callback of a
 * turn, and after the spec was replaced in a turn. */
static inline void callback_note_actor(const struct actor *actor)
{
    const struct place *place = actor->place;
    struct note *note = actor->executor->note;

    note->label = actor->spec->label;
    note->place = place ? place->label : NULL;
    note->worker = place ? place->index : 0;
    actor->executor->noted = actor->spec;
}

/* Called after callback_begin, when the callback may block although its behaviour is not flagged
 * so. */
void callback_may_block(struct actor *actor);
/* At the end of a callback that may block. */
void callback_has_blocked(struct executor *executor);

/* Of the message in hand; 0: none. A manager has the name of its pool, whose workers it must not
 * accuse. */
static inline uint64_t callback_identity(const struct actor *actor)
{
    return actor->current && actor->kind != ACTOR_POOL ? message_identity(actor->current) : 0;
}

/* The part of a callback's begin that is the same for each behaviour. */
static inline void callback_note(struct actor *actor, enum note_callback callback,
                                 const struct weir_tag *tag)
{
    struct executor *executor = actor->executor;

    lock_expect_none();
    /* Relaxed: the timekeeper reads it again when it holds this thread. */
    atomic_store_explicit(&executor->current, actor, memory_order_relaxed);
    if (executor->noted != actor->spec)
        callback_note_actor(actor);
    executor->note->tag = tag;
    if (__builtin_expect(executor->identifies, false))
        executor->note->identity = callback_identity(actor);
    executor->note->callback = (uint8_t)callback;
    executor->note->inside = true;
}

/* Around a callback of a plain actor (see actor_disturb), whose behaviour is not flagged as
 * blocking. */
static inline void callback_begin_plain(struct actor *actor, enum note_callback callback,
                                        const struct weir_tag *tag)
{
    callback_note(actor, callback, tag);
    executor_enter_callback(actor->executor);
}

static inline void callback_end_plain(struct executor *executor)
{
    executor_leave_callback(executor);
    atomic_store_explicit(&executor->current, NULL, memory_order_relaxed);
    executor->note->inside = false; /* the rest stays, for a later crash that it causes */
}

/* As callback_begin, about a message with this tag. */
static inline void callback_begin_with(struct actor *actor, enum note_callback callback,
                                       const struct weir_tag *tag)
{
    callback_note(actor, callback, tag);
    if (__builtin_expect(actor->spec->behaviour->flags & WEIR_BLOCKING, false))
        callback_may_block(actor);
    else
        executor_enter_callback(actor->executor);
}

/* Begins a callback about the current message, if there is one. */
static inline void callback_begin(struct actor *actor, enum note_callback callback)
{
    callback_begin_with(actor, callback, actor->current ? actor->current->public.tag : NULL);
}

/* Around `flush`, and callbacks of timers and descriptors: those of a worker with WEIR_GATHERS do
 * not wait, so what they wake runs next on this thread. */
static inline void callback_begin_brief(struct actor *actor, enum note_callback callback)
{
    if (actor->kind != ACTOR_SOURCE && (actor->spec->behaviour->flags & WEIR_GATHERS))
        callback_begin_plain(actor, callback, actor->current ? actor->current->public.tag : NULL);
    else
        callback_begin(actor, callback);
}

static inline void callback_end(struct actor *actor)
{
    struct executor *executor = actor->executor;

    callback_end_plain(executor);
    if (__builtin_expect(executor->blocking, false))
        callback_has_blocked(executor);
}

/* Around a call into the host by a callback that may block. Out of line: a call by any other
 * callback saves no registers for it. */
void callback_go_online(struct executor *executor);
void callback_go_offline(struct executor *executor);

/* Whether the worker was left behind in the present callback: its calls have no effect, and say
 * WEIR_ETERMINATED. After callback_enter_host, which waits for a thread that holds this one. */
static inline bool callback_is_left(const struct actor *actor)
{
    return __builtin_expect(actor->leaving == LEAVING_BEHIND, false);
}

/* Around each call into the host that reads or writes more of the actor than a thread may that does
 * not hold it: see dispatch/put_offline.h. */
static inline struct actor *callback_enter_host(struct weir_self *self)
{
    struct actor *actor = actor_of_self(self);

    if (__builtin_expect(actor->executor->blocking, false))
        callback_go_online(actor->executor);
    else
        executor_leave_callback(actor->executor);
    return actor;
}

static inline void callback_leave_host(struct actor *actor)
{
    if (__builtin_expect(actor->executor->blocking, false))
        callback_go_offline(actor->executor);
    else
        executor_enter_callback(actor->executor);
}

#endif
