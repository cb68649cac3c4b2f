/* SPDX-License-Identifier: MIT */
/*
 * actor/stash.h - messages that a worker has stashed for later.
 *
 * They are held: neither in the mailbox, whose room they have freed, nor current. They keep their
 * order. At the end of the incarnation they are redelivered or become dead letters. Owner's turn
 * only.
 */
#ifndef ACTOR_STASH_H
#define ACTOR_STASH_H

#include "actor/actor_ext.h"

#define STASH_MAX 256 /* as in an outbox: semantics A.8 requires a bound */

static inline uint32_t stash_count(const struct actor *actor)
{
    return actor->ext ? actor->ext->stash.count : 0;
}

/* Stashes the message in hand, or a kept one. Takes it on 0. WEIR_EFULL, WEIR_EINVALID. */
int stash_put(struct actor *actor, struct message *message);

/* Moves the first `count` messages in front of the normal lane, in order; returns their number. */
uint32_t stash_give(struct actor *actor, uint32_t count);

/* True when a message is stashed that was sent under a lease. */
bool stash_has_leased(const struct actor *actor);

/* The incarnation has ended: appends the stashed messages to `had`, in hand. */
void stash_empty(struct actor *actor, struct message_list *had);

#endif
