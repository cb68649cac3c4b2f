/* SPDX-License-Identifier: MIT */
/*
 * actor/due.h - handles the deadlines of an actor when its timer is due. Owner's turn only.
 */
#ifndef ACTOR_DUE_H
#define ACTOR_DUE_H

#include "actor/actor.h"

/* After SIGNAL_TIME: runs due callbacks and arms the timer for the rest; returns their number.
 * Callbacks that are too many for one step run in the next one. */
uint32_t due_run(struct actor *actor);

#endif
