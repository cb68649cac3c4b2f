/*
 * actor/incarnation.h - one life of an actor between `open` and its end. Owner's turn only.
 */
#ifndef ACTOR_INCARNATION_H
#define ACTOR_INCARNATION_H

#include "actor/actor.h"

/* STARTING: calls `open`; then OPEN, or WAITING until the backoff is over. */
void incarnation_open(struct actor *actor);

/* Ends the incarnation after a failure; another one follows by the `restart` of its spec. An actor
 * that is not restarted, or that leaves with an empty backlog, ends. */
void incarnation_fail(struct actor *actor, enum weir_end_reason reason);

/*
 * Ends the incarnation, if there is one, without a failure; another one follows at once. NORMAL:
 * the behaviour stopped it; REPLACED: another behaviour follows; SHUTDOWN: an order to restart. An
 * actor that is not restarted ends.
 */
void incarnation_replace(struct actor *actor, enum weir_end_reason reason);

/* Ends the incarnation, if there is one, and all that belongs to it. Its current, kept and stashed
 * messages are redelivered or become dead letters. The caller changes the actor's state. */
void incarnation_close(struct actor *actor, enum weir_end_reason reason);

/* Frees the state of the behaviour, if there is any. */
void incarnation_free_state(struct actor *actor);

/* Takes a new spec of the place that differs in live options only, and passes it to `reconfigure`.
 * */
void incarnation_respec(struct actor *actor, struct spec *spec);

#endif
