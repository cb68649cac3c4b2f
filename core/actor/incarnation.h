/* SPDX-License-Identifier: MIT */
/*
 * actor/incarnation.h - one life of an actor between `open` and its end. Owner's turn only.
 *
 * open.h begins it, restart.h begins the next one after a failure, and end.h ends the actor.
 */
#ifndef ACTOR_INCARNATION_H
#define ACTOR_INCARNATION_H

#include "actor/actor.h"

/* Makes the state of the behaviour and calls `open`. Returns its status; after a failure nothing of
 * the incarnation is left. */
int incarnation_start(struct actor *actor);

/* Ends the incarnation, if there is one, and all that belongs to it. Its current, kept and stashed
 * messages are redelivered or become dead letters. The caller changes the actor's state. */
void incarnation_close(struct actor *actor, enum weir_end_reason reason);

/* Ends an incarnation for a restart that the worker has not caused: its stash goes to the next
 * incarnation, and its kept messages are settled as after a failure. */
void incarnation_close_for_restart(struct actor *actor);

/* Frees the state of the behaviour, if there is any. */
void incarnation_free_state(struct actor *actor);

/* Takes a new spec of the place that differs in live options only, and passes it to `reconfigure`.
 * */
void incarnation_respec(struct actor *actor, struct spec *spec);

#endif
