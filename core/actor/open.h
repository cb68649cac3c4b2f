/* SPDX-License-Identifier: MIT */
/*
 * actor/open.h - opens an actor: its next incarnation begins, and messages are admitted.
 */
#ifndef ACTOR_OPEN_H
#define ACTOR_OPEN_H

#include "actor/actor.h"

/*
 * STARTING: calls `open`; then OPEN. After a failure the `restart` of its spec decides. A child
 * whose `open` fails ends. Owner.
 */
void open_actor(struct actor *actor);

#endif
