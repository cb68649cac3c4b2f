/*
 * actor/room.h - the waiters for room in a pool, or in one actor.
 *
 * A pool always has a list of waiters; another actor gets one for its first waiter, freed a grace
 * period after its end. The creation of a list and the end of its actor cannot miss each other: the
 * one publishes the list and then looks at the admission word, the other ends the word and then
 * looks for a list.
 */
#ifndef ACTOR_ROOM_H
#define ACTOR_ROOM_H

#include "actor/actor.h"
#include "actor/waiters.h"

/* The list of waiters of the actor. Any thread, in a read section, inside which alone it may be
 * used. NULL when memory is out. */
struct waiters *room_of(struct actor *actor);

/* An actor that is no pool has free places, or admits again, or never will: wakes up to `max` of
 * its own waiters. Any thread, in a read section. */
void room_wake(struct actor *actor, uint32_t max, struct executor *executor);

/* The actor has ended: no thread can wait for it any more. Owner. */
void room_dissolve(struct actor *actor, struct executor *executor);

/* Frees the list, a grace period later. */
void room_destroy(struct actor *actor);

#endif
