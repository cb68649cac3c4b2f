/* SPDX-License-Identifier: MIT */
/*
 * actor/lease_turn.h - the steps of a member's turn that begin and end its lease: see lease.h.
 */
#ifndef ACTOR_LEASE_TURN_H
#define ACTOR_LEASE_TURN_H

#include "actor/actor.h"

struct place;

/* Leases the member to the taker. Takes the TAKE. */
void lease_grant(struct actor *actor, struct message *take);

/* Whether a thread may lease the member while it is free, without a turn of it: pool/lending.h.
 * Makes what such a lease needs. */
bool lease_may_be_lent(struct actor *actor);

/* The TAKE for which the callback `taken` of the member lasts for too long, to be given to another
 * member. NULL: none. Called by the thread that holds the owner's thread (relief.h). Returns
 * owned. */
struct message *lease_take_offer(struct place *place, uint64_t now_ns);

/* Ends a lease that is over, after all messages under it were handled. True: it has done so. */
bool lease_step(struct actor *actor);

/* Looks at the lease after SIGNAL_TIME, and revokes it if it must. Returns the time of the next
 * look, or TIMER_NEVER. */
uint64_t lease_time(struct actor *actor, uint64_t now_ns);

/* After SIGNAL_TIME: drops the messages of the outbox that were emitted under a lease, once the
 * lease has ended with its incarnation and the time for the way back is over. Returns as
 * lease_time. */
uint64_t lease_unsent_time(struct actor *actor, uint64_t now_ns);

/* Revokes the lease of a member whose time to leave is over. */
void lease_leave_time(struct actor *actor, uint64_t now_ns);

/* True for the WEIR_DOWN of the lease's holder. Does not take it. */
bool lease_holder_ended(struct actor *actor, const struct message *down);

#endif
