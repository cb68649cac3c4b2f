/* SPDX-License-Identifier: MIT */
/*
 * actor/unwelcome.h - messages that a worker has taken and does not handle. Owner's turn only.
 */
#ifndef ACTOR_UNWELCOME_H
#define ACTOR_UNWELCOME_H

#include "actor/actor.h"

/* Drops a message for this status of wanted_begin. Takes it. */
void unwelcome_drop(struct actor *actor, struct message *message, int status);

/* A message that the worker may not handle, because of a lease. One that was sent to the pool goes
 * to another member, or to the pool's queue. Takes it. */
void unwelcome_refuse(struct actor *actor, struct message *message);

#endif
