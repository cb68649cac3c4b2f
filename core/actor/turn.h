/* SPDX-License-Identifier: MIT */
/*
 * actor/turn.h - one stretch of running one actor: control first, then its lanes, up to the budget.
 */
#ifndef ACTOR_TURN_H
#define ACTOR_TURN_H

#include "dispatch/schedulable.h"

struct executor;

/* The `run` of every actor. */
enum turn actor_turn(struct schedulable *schedulable, struct executor *executor);

#endif
