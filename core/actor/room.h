/*
 * actor/room.h - the waiters for room in a pool, or in one actor.
 *
 * A pool always has a list of waiters; another actor gets one for its first waiter, freed a grace
 * period after its end. A new list and the end of its actor cannot miss each other: the waiter
 * publishes the list and then reads the admission word; the end closes the word and then reads the
 * list.
 */
#ifndef ACTOR_ROOM_H
#define ACTOR_ROOM_H

#include "actor/actor.h"
#include "actor/waiters.h"

/* The list of waiters of the actor. Any thread, in a read section, inside which alone it may be
 * used. NULL when memory is out. */
struct waiters *room_of(struct actor *actor);

/* Wakes up to `max` waiters of an actor that is no pool: it has room, admits messages again, or has
 * ended. Any thread, in a read section. */
void room_wake(struct actor *actor, uint32_t max, struct executor *executor);

/* Ends the list when the actor has ended: no thread can wait any more. Owner. */
void room_dissolve(struct actor *actor, struct executor *executor);

/* Frees the list, a grace period later. */
void room_destroy(struct actor *actor);

#endif
