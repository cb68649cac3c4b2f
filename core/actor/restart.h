/*
 * actor/restart.h - what becomes of a place whose incarnation has failed, by the `restart` of its
 * spec. Owner's turn only.
 */
#ifndef ACTOR_RESTART_H
#define ACTOR_RESTART_H

#include "actor/actor.h"

/* A failure now, of one that is open, would have it stay closed. Owner's turn. */
bool restart_is_over(struct actor *actor);

/* It is STARTING again: let it be, or, past its bound, have it wait, or stay closed. */
void restart_after_failure(struct actor *actor);

/* It waits for its backoff, or, past its bound, stays closed. */
void restart_after_failed_open(struct actor *actor);

/* The pause is over: it is STARTING. Returns the next deadline. */
uint64_t restart_time(struct actor *actor, uint64_t now_ns);

/* It begins another incarnation, its bounds forgotten. It keeps no message. */
void restart_renew(struct actor *actor);

/* A pool above has it begin anew: at once, or, when it is not open, after a pause. */
void restart_anew(struct actor *actor, uint64_t pause_ms);

#endif
