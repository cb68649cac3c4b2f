/*
 * actor/incarnation.h - one life of an actor between `open` and its end. Owner's turn only.
 */
#ifndef ACTOR_INCARNATION_H
#define ACTOR_INCARNATION_H

#include "actor/actor.h"

/* STARTING: calls `open`; then OPEN, or WAITING until the backoff is over. */
void incarnation_open(struct actor *actor);

/* FAIL, or a crash that came through a link: what it had in hand is dead or given again, and the
 * place starts anew, at once or after a backoff. A plain actor ends. */
void incarnation_fail(struct actor *actor, enum weir_end_reason reason);

/* STOP: as an end without fault; the place starts anew at once. A plain actor ends. */
void incarnation_stop(struct actor *actor);

/* It begins another incarnation in its place. It keeps no message; the next one is given first what
 * it has stashed. STARTING. */
void incarnation_restart(struct actor *actor);

/* Others have failed, and it begins anew with them: what it kept is dead or given again, as after a
 * failure of its own. STARTING. */
void incarnation_begin_anew(struct actor *actor);

/* The actor ends for good: close, tell, leave the pool, give the slot back. */
void incarnation_end(struct actor *actor, enum weir_end_reason reason);

/* Likewise, and without its backlog and what is in its outbox: these are dead. */
void incarnation_end_now(struct actor *actor, enum weir_end_reason reason);

/* Frees the state of the behaviour, if there is any. */
void incarnation_free_state(struct actor *actor);

/* The place has a new spec, which is taken, whose changed options are all live: `reconfigure` gets
 * them. */
void incarnation_respec(struct actor *actor, struct spec *spec);

/* A pool's manager is another behaviour from now on, or none: takes `spec`, which may be NULL. */
void incarnation_renew(struct actor *actor, struct spec *spec);

#endif
