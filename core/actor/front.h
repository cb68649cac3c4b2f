/*
 * actor/front.h - the messages that stand before an actor's normal lane: given again, unstashed, and
 * events that a lease has held up. They count as held. Owner's turn only.
 */
#ifndef ACTOR_FRONT_H
#define ACTOR_FRONT_H

#include "actor/actor.h"

static inline bool front_is_empty(const struct actor *actor)
{
    return message_queue_is_empty(&actor->front);
}

/* The next message, still counted as held; NULL when empty. */
struct message *front_take(struct actor *actor);

/* Behind all others. */
void front_append(struct actor *actor, struct message *message);

/* Before all others, in their order; `messages` is empty afterwards. */
void front_prepend_all(struct actor *actor, struct message_queue *messages);

/* All messages, in order; the front is empty afterwards. */
struct message_queue front_take_all(struct actor *actor);

#endif
