/* SPDX-License-Identifier: MIT */
/*
 * actor/child.h - one child of an actor: it is made, and it ends.
 *
 * Its spec is a copy of the behaviour and settings that the parent passes, and keeps the parent's
 * plugin loaded. Its place shares the parts of its parent's place. Owner's turn of the parent.
 */
#ifndef ACTOR_CHILD_H
#define ACTOR_CHILD_H

#include "actor/actor.h"

/* As weir_spawn. */
int child_spawn(struct actor *actor, const struct weir_spawn_options *options, weir_pid *out);

#endif
