/*
 * actor/handling.h - one message through `handle`, and what its verdict does to it. Owner only.
 */
#ifndef ACTOR_HANDLING_H
#define ACTOR_HANDLING_H

#include "actor/actor.h"

/* Gives the message to the behaviour, and carries out its verdict. Takes the message. */
void handling_run(struct actor *actor, struct message *message);

/* A pool's own message that its manager has no use for. Takes it. */
void handling_unhandled(struct actor *actor, struct message *message);

/* As weir_settle: takes a kept message. WEIR_EINVALID: not kept by this actor, or the verdict
 * cannot be given late. */
int handling_settle_kept(struct actor *actor, struct message *message, int verdict);

#endif
