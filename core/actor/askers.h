/* SPDX-License-Identifier: MIT */
/*
 * actor/askers.h - the parts whose actors have asked a pool by its PID: for a reply, a lease or the
 * results of tasks. The order of closing follows them (core/feeding.h).
 *
 * Any thread adds one, in a read section, without a lock. None is removed: the PID of a part that
 * has ended is that of no other one, and its element may be used again.
 */
#ifndef ACTOR_ASKERS_H
#define ACTOR_ASKERS_H

#include <stdatomic.h>
#include <stdbool.h>

#include <weir/message.h>

struct actor;
struct runtime;

/* So that one block takes two cache lines. */
#define ASKERS_EACH 14u

/* A block of a list; the first one is a part of its pool. */
struct askers {
    /* Any thread writes and reads. Relaxed: an element says all by itself. */
    _Atomic weir_pid parts[ASKERS_EACH]; /* 0 = free */
    _Atomic bool more;                   /* of the last block: memory was out for another one */
    /* Any thread appends, by one exchange; NULL: the last one. Never changed then. */
    _Atomic(struct askers *) next;
};

/* Calls `visit` for each part, which may have ended, until that returns true. True: it has. In a
 * read section. */
bool askers_visit(const struct askers *askers, bool (*visit)(void *context, weir_pid part),
                  void *context);

/* True when a part could not be noted, since memory was out. */
bool askers_lack_some(const struct askers *askers);

/* Frees the blocks but the first one. No thread uses them any more. */
void askers_finish(struct askers *askers);

/* The PID of the part that an actor belongs to: of the pool of a worker, also for its children.
 * In a turn of the actor. */
weir_pid askers_part_of(const struct actor *actor);

/* The actor is about to ask `to`, which need not be a pool. In its turn. */
void askers_note(struct actor *actor, weir_pid to);

/* As askers_note, by the part. Any thread in a read section. */
void askers_note_part(struct runtime *runtime, weir_pid part, weir_pid to);

#endif
