/* SPDX-License-Identifier: MIT */
/*
 * actor/leave.h - an actor that leaves: first it finishes, passes on or discards its backlog.
 * Owner's turn only.
 */
#ifndef ACTOR_LEAVE_H
#define ACTOR_LEAVE_H

#include "actor/actor.h"

/* Orders the actor to end, for that reason, when its backlog is empty. A second order keeps the
 * reason of the first, and may only be stronger. */
void leave_begin(struct actor *actor, enum actor_leaving leaving, enum weir_end_reason reason);

/* After DRAIN, SHUTDOWN or STAY: the owner decides which one is in force. */
void leave_obey(struct actor *actor, uint32_t signals);

/* Before a leaving actor takes a message: makes the backlog dead if it discards, or if its time is
 * over. */
void leave_shed(struct actor *actor);

/* Called when a worker fails while it leaves: passes its backlog to other members. True: the actor
 * has ended. False: it opens once more, to handle messages for which there was no room, or because
 * it was recalled. */
bool leave_after_failure(struct actor *actor, enum weir_end_reason reason);

/* After the pool's time-out for removal, passes the backlog to other members or makes it dead
 * `removed`, and makes kept messages dead `kept`; likewise the queue of a pool that closes. Returns
 * the next deadline. */
uint64_t leave_time(struct actor *actor, uint64_t now_ns);

/* True for a leaving actor between two incarnations that is to open once more now, to finish its
 * backlog. */
bool leave_opens_again(struct actor *actor);

/* Carries a leaving actor one step further. False: it still waits, also for what its `leave` waits
 * for. */
bool leave_step(struct actor *actor);

#endif
