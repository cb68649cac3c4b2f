/*
 * actor/incarnation.h - one life of an actor between `open` and its end. Owner's turn only.
 */
#ifndef ACTOR_INCARNATION_H
#define ACTOR_INCARNATION_H

#include "actor/actor.h"

/* STARTING: calls `open`; then OPEN, or WAITING until the backoff is over. */
void incarnation_open(struct actor *actor);

/* The incarnation fails: it ends, and another one follows by the `restart` of its spec. An actor
 * that nobody opens again, or that leaves and has nothing left, ends. */
void incarnation_fail(struct actor *actor, enum weir_end_reason reason);

/*
 * The incarnation ends without a failure, if there is one, and another one follows at once.
 * NORMAL: the behaviour stopped it; REPLACED: by another behaviour; SHUTDOWN: it is restarted. An
 * actor that nobody opens again ends.
 */
void incarnation_replace(struct actor *actor, enum weir_end_reason reason);

/* Ends the incarnation, if there is one, and all that belongs to it. What it had in hand, kept and
 * stashed is given again or dead. The actor's state is the caller's matter. */
void incarnation_close(struct actor *actor, enum weir_end_reason reason);

/* Frees the state of the behaviour, if there is any. */
void incarnation_free_state(struct actor *actor);

/* The place has a new spec, which is taken, whose changed options are all live: `reconfigure` gets
 * them. */
void incarnation_respec(struct actor *actor, struct spec *spec);

#endif
