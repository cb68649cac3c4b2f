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

/* More parts that ask one pool are not distinguished. One element less than two cache lines
 * hold. */
#define ASKERS_MAX 15u

struct askers {
    /* Any thread writes and reads. Relaxed: an element says all by itself. */
    _Atomic weir_pid parts[ASKERS_MAX]; /* of the first ones; 0 = free */
    _Atomic bool more;                  /* there was no room for another one */
};

/* The PID of the part that an actor belongs to: of the pool of a worker, also for its children.
 * In a turn of the actor. */
weir_pid askers_part_of(const struct actor *actor);

/* The actor is about to ask `to`, which need not be a pool. In its turn. */
void askers_note(struct actor *actor, weir_pid to);

/* As askers_note, by the part. Any thread in a read section. */
void askers_note_part(struct runtime *runtime, weir_pid part, weir_pid to);

#endif
