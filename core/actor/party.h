/* SPDX-License-Identifier: MIT */
/*
 * actor/party.h - the party to which a turn of an actor belongs: see dispatch/shares.h.
 */
#ifndef ACTOR_PARTY_H
#define ACTOR_PARTY_H

struct schedulable;

/* The pool of a worker; the parent's party for a child; the actor itself for a manager, a source
 * and a stand-alone actor. For a thread that is about to run it. */
const void *actor_party(const struct schedulable *schedulable);

#endif
