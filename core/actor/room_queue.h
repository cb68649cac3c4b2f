/* SPDX-License-Identifier: MIT */
/*
 * actor/room_queue.h - the wait queue of a pool, or of one actor, for room.
 *
 * A pool always has a wait queue; another actor gets one for its first waiter, freed a grace period
 * after its end. A new queue and the end of its actor cannot miss each other: the waiter publishes
 * the queue and then reads the admission word; the end closes the word and then reads the queue.
 */
#ifndef ACTOR_ROOM_QUEUE_H
#define ACTOR_ROOM_QUEUE_H

#include "actor/actor.h"
#include "actor/wait_queue.h"

/* The wait queue of the actor. Any thread, in a read section, inside which alone it may be
 * used. NULL when memory is out. */
struct wait_queue *room_queue_of(struct actor *actor);

/* Wakes up to `max` waiters of an actor that is no pool: it has room, admits messages again, or has
 * ended. Any thread, in a read section. */
void room_queue_wake(struct actor *actor, uint32_t max, struct executor *executor);

/* Ends the queue when the actor has ended: no thread can wait any more. Owner. */
void room_queue_dissolve(struct actor *actor, struct executor *executor);

/* Frees the queue, a grace period later. */
void room_queue_destroy(struct actor *actor);

#endif
