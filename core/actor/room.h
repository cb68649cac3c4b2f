/*
 * actor/room.h - where those wait who found no room: before a pool, or before one actor.
 *
 * A pool has its waiters always; another actor gets its own when the first one comes, and they are
 * freed a grace period after its end. Who makes them and who ends the actor cannot miss each other:
 * the one publishes and then looks at the admission word, the other ends the word and then looks.
 */
#ifndef ACTOR_ROOM_H
#define ACTOR_ROOM_H

#include "actor/actor.h"
#include "actor/waiters.h"

/* Where to wait for a place before the actor. Any thread, in a read section, in which alone it may
 * be used. NULL when memory is out. */
struct waiters *room_of(struct actor *actor);

/* Places came free in an actor that is no pool, or it lets in again, or does so no more: wakes up
 * to `max` of those who wait for it alone. Any thread, in a read section. */
void room_wake(struct actor *actor, uint32_t max, struct executor *executor);

/* The actor has ended: nobody can wait for it any more. Owner. */
void room_dissolve(struct actor *actor, struct executor *executor);

/* A grace period later. */
void room_destroy(struct actor *actor);

#endif
