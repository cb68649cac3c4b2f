/* SPDX-License-Identifier: MIT */
/*
 * actor/own.h - messages that a worker sends to itself: by its calls and timers, by its children,
 * by its own threads. They are its own business: a lease does not keep them out (lease.h).
 *
 * The sender marks them where the receiver could not tell: a child may have ended, and a request of
 * a thread has no sender. A message that is refused loses the mark (giving.h, port_entry.h).
 */
#ifndef ACTOR_OWN_H
#define ACTOR_OWN_H

#include "actor/children.h"
#include "actor/place.h"

/* Called by the sender `actor`, in its turn. */
static inline void own_mark(const struct actor *actor, weir_pid to, struct message *message)
{
    const struct child *child = actor->place ? actor->place->child : NULL;

    if (child && child->of->parent_pid == to)
        message->public.reserved |= MESSAGE_OWN;
}

/* Whether the receiver has sent a message of the normal lane to itself. */
static inline bool own_is(const struct actor *actor, const struct message *message)
{
    return message_is_for_one(message) &&
           ((message->public.reserved & MESSAGE_OWN) || message->public.from == actor_pid(actor));
}

#endif
