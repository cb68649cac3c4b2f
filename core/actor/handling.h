/*
 * actor/handling.h - calls `handle` for one message and carries out its verdict. Owner only.
 */
#ifndef ACTOR_HANDLING_H
#define ACTOR_HANDLING_H

#include "actor/actor.h"

/* Passes the message to the behaviour, and carries out its verdict. Takes the message. */
void handling_run(struct actor *actor, struct message *message);

/* Answers or drops a pool's own message that its manager does not handle. Takes it. */
void handling_unhandled(struct actor *actor, struct message *message);

/* As weir_settle: takes a kept message. WEIR_EINVALID: this actor does not keep it, or the verdict
 * is not allowed late. */
int handling_settle_kept(struct actor *actor, struct message *message, int verdict);

#endif
