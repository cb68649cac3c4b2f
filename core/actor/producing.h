/* SPDX-License-Identifier: MIT */
/*
 * actor/producing.h - the turn of a source: it produces on demand.
 *
 * `produce` gets the number of messages that the pool has room for. Messages beyond that wait in
 * the outbox, and `produce` is not called again until the outbox is empty.
 */
#ifndef ACTOR_PRODUCING_H
#define ACTOR_PRODUCING_H

#include "actor/actor.h"

/* Calls `produce` if there is room. False: nothing can be done now. */
bool producing_step(struct actor *actor);

/* A source that cannot produce now: a place that was granted to it goes to the next sender. */
void producing_yield(struct actor *actor);

#endif
