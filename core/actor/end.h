/* SPDX-License-Identifier: MIT */
/*
 * actor/end.h - the end of an actor, which leaves its pool and its slot.
 */
#ifndef ACTOR_END_H
#define ACTOR_END_H

#include "actor/actor.h"

enum end_when {
    END_FLUSHED, /* the messages in the outbox are sent first */
    END_NOW,     /* the messages in the outbox become dead letters, `no_target` */
};

/*
 * Ends the actor for good: closes its incarnation, settles the messages that are left, notifies the
 * owner and all linked and monitoring actors, and gives the slot back. While its outbox has
 * messages or children live, the actor is CLOSED, and its turn calls this function again
 * afterwards. Owner.
 */
void end_actor(struct actor *actor, enum weir_end_reason reason, enum end_when when);

/* Makes the messages of the outbox dead, and leaves the wait queue. The message that emitted them
 * counts as handled. */
void end_drop_outbox(struct actor *actor, enum dead_reason reason, int status);

/* Settles the message that could only be settled after the outbox was sent, if there is one. The
 * outbox is empty. Owner. */
void end_settle_input(struct actor *actor);

/* Frees everything that an actor holds which was created and never started. */
void end_unborn(struct actor *actor, struct executor *executor);

/* Frees everything that an actor holds when no thread runs any more (the runtime is destroyed). */
void end_abandoned(struct actor *actor, struct executor *executor);

#endif
