/*
 * actor/leave.h - an actor that is to end: it finishes, hands on or discards its backlog first.
 * Owner's turn only.
 */
#ifndef ACTOR_LEAVE_H
#define ACTOR_LEAVE_H

#include "actor/actor.h"

/* The actor is to end, for that reason, when it has nothing left. An order that is there already
 * keeps its reason, and is only made stronger. */
void leave_begin(struct actor *actor, enum actor_leaving leaving, enum weir_end_reason reason);

/* DRAIN, SHUTDOWN or STAY came: the owner says which holds. */
void leave_obey(struct actor *actor, uint32_t signals);

/* LEAVING_REROUTES, LEAVING_DISCARDS: hands the backlog to other members that have room, or it is
 * dead. The actor handles what stays. */
void leave_shed(struct actor *actor);

/* A worker has failed while it leaves: hands its backlog to other members. True: the actor has
 * ended. False: it is to open once more, to handle what found no room there, or since it was
 * recalled. */
bool leave_after_failure(struct actor *actor, enum weir_end_reason reason);

/* Past the pool's time-out for removal the backlog goes to other members, else it is dead
 * `removed`, and kept messages are dead `kept`; likewise the queue of a pool that closes.
 * Returns the next deadline. */
uint64_t leave_time(struct actor *actor, uint64_t now_ns);

/* Takes a leaving actor one step on. False: it still waits for something. */
bool leave_step(struct actor *actor);

#endif
