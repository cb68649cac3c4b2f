/* SPDX-License-Identifier: MIT */
/*
 * actor/control.h - control messages and signals of an actor. Owner's turn only.
 */
#ifndef ACTOR_CONTROL_H
#define ACTOR_CONTROL_H

#include "actor/actor.h"

/* Takes the control queue: sorts its messages into the queues of the actor, then obeys the signals.
 * Returns the number of timer callbacks that were called. */
uint32_t control_take(struct actor *actor);

/* Handles one control message, which it takes. */
void control_handle(struct actor *actor, struct message *message);

#endif
