/*
 * actor/end.h - the end of an actor: out of its pool, out of its slot.
 */
#ifndef ACTOR_END_H
#define ACTOR_END_H

#include "actor/actor.h"

/* After the last incarnation: settles what is left, tells the pool, retires the slot. While it has
 * children it is ACTOR_CLOSED, and this is to be called again. Owner. */
void end_actor(struct actor *actor, enum weir_end_reason reason);

/* Settles the input that waits for the outbox, if there is one. The outbox is empty. Owner. */
void end_settle_input(struct actor *actor);

/* An actor that was created and never begun: gives everything back. */
void end_unborn(struct actor *actor, struct executor *executor);

/* Frees what an actor holds when nobody runs any more (the runtime is destroyed). */
void end_abandoned(struct actor *actor, struct executor *executor);

#endif
