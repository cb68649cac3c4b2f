/* SPDX-License-Identifier: MIT */
/*
 * actor/items.h - the host's own figures of an actor, for an inspect. Owner's turn.
 */
#ifndef ACTOR_ITEMS_H
#define ACTOR_ITEMS_H

#include "actor/actor.h"

struct inspection;

/* Adds the host's items; for a pool's manager, too. */
void items_of_actor(struct inspection *inspection, struct actor *actor);

#endif
