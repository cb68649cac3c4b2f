/*
 * actor/stash.h - messages that a worker has put aside for later.
 *
 * They are held: out of the mailbox, whose places they have given back, and not in hand. They keep
 * their order, and belong to the incarnation: with it they are dead. Owner's turn only.
 */
#ifndef ACTOR_STASH_H
#define ACTOR_STASH_H

#include "actor/actor.h"

#define STASH_MAX 256 /* as many as wait in an outbox: semantics A.8 says bounded */

/* The message in hand. Takes it on 0. WEIR_EFULL, WEIR_EINVALID. */
int stash_put(struct actor *actor, struct message *message);

/* Puts the first `count` before everything in the normal lane, in order; how many. */
uint32_t stash_give(struct actor *actor, uint32_t count);

/* The incarnation has ended: appends all of them to `had`, in hand. */
void stash_empty(struct actor *actor, struct message_list *had);

#endif
