/*
 * actor/end.h - the end of an actor: out of its pool, out of its slot.
 */
#ifndef ACTOR_END_H
#define ACTOR_END_H

#include "actor/actor.h"

enum end_when {
    END_FLUSHED, /* what waits in the outbox is sent first */
    END_NOW,     /* that is dead `no_target` */
};

/*
 * Ends the actor for good: closes its incarnation, settles what is left, tells the owner and all
 * who watch it, and gives the slot back. While the outbox or children are left it is CLOSED; its
 * turn calls this again when they have gone. Owner.
 */
void end_actor(struct actor *actor, enum weir_end_reason reason, enum end_when when);

/* Settles the input that waits for the outbox, if there is one. The outbox is empty. Owner. */
void end_settle_input(struct actor *actor);

/* An actor that was created and never begun: gives everything back. */
void end_unborn(struct actor *actor, struct executor *executor);

/* Frees what an actor holds when nobody runs any more (the runtime is destroyed). */
void end_abandoned(struct actor *actor, struct executor *executor);

#endif
