/*
 * actor/handling.h - calls `handle` for one message and carries out its verdict. Owner only.
 */
#ifndef ACTOR_HANDLING_H
#define ACTOR_HANDLING_H

#include "actor/actor.h"

/* Passes the message to the behaviour, and carries out its verdict. Takes the message. */
void handling_run(struct actor *actor, struct message *message);

#endif
