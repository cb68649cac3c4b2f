/* SPDX-License-Identifier: MIT */
/*
 * actor/front.h - the messages that stand before an actor's normal lane: given again, unstashed,
 * put back, and events that a lease has held up. They count as held. Owner's turn only.
 *
 * What is put back makes a *row*, in the order of the calls and before all others. The row ends
 * when a message of the front is handled, so a later row stands before the rest of an earlier one.
 */
#ifndef ACTOR_FRONT_H
#define ACTOR_FRONT_H

#include "actor/actor_ext.h"

static inline bool front_is_empty(const struct actor *actor)
{
    return message_queue_is_empty(&actor->front);
}

/* The next message, still counted as held; NULL when empty. */
struct message *front_take(struct actor *actor);

/* Behind all others. */
void front_append(struct actor *actor, struct message *message);

/* At the end of the row. `ext` is the actor's. */
void front_put_back(struct actor *actor, struct actor_ext *ext, struct message *message);

/* Before all others, in their order; `messages` is empty afterwards. */
void front_prepend_all(struct actor *actor, struct message_queue *messages);

/* All messages, in order, to look for those that leave; the others are returned. The front is empty
 * meanwhile. */
struct message_queue front_take_all(struct actor *actor);

/* The messages that stay, in their order. The row ends if its last one has left. `messages` is
 * empty afterwards. */
void front_return_all(struct actor *actor, struct message_queue *messages);

#endif
