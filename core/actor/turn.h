/*
 * actor/turn.h - one stretch of running one actor: control first, then its lanes, up to the budget.
 */
#ifndef ACTOR_TURN_H
#define ACTOR_TURN_H

#include "dispatch/schedulable.h"

struct actor;
struct message;

/* The `run` of every actor. */
enum turn actor_turn(struct schedulable *schedulable, struct executor *executor);

/* As weir_settle: takes a kept message. WEIR_EINVALID: not kept by this actor, or the verdict
 * cannot be given late. */
int turn_settle_kept(struct actor *actor, struct message *message, int verdict);

#endif
