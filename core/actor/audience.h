/* SPDX-License-Identifier: MIT */
/*
 * actor/audience.h - an actor's own events, and notices about their audiences. Owner's turn only.
 */
#ifndef ACTOR_AUDIENCE_H
#define ACTOR_AUDIENCE_H

#include "actor/actor.h"
#include "actor/events.h"

/* By which the events of an actor are known; those of a pool are not those of its manager. */
static inline weir_pid audience_id(const struct actor *actor)
{
    return actor->kind == ACTOR_POOL ? actor_pid(actor) | EVENTS_MANAGER : actor_pid(actor);
}

/* As weir_event, weir_subscribe and weir_unsubscribe. */
int audience_own(struct actor *actor, const char *name, uint64_t *out_event);
int audience_join(struct actor *actor, const char *name);
int audience_leave(struct actor *actor, const char *name);

/* After SIGNAL_AUDIENCE: calls the behaviour for each event whose audience has begun or ended. */
void audience_notify(struct actor *actor);

#endif
