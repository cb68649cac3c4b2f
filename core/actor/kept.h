/*
 * actor/kept.h - messages that a worker keeps to settle them later: since when, and which of them
 * are kept for so long that somebody should know. Owner's turn only.
 */
#ifndef ACTOR_KEPT_H
#define ACTOR_KEPT_H

#include "actor/actor.h"

/* Takes a message that the worker keeps. */
void kept_add(struct actor *actor, struct message *message);

/* Logs each message once that has been kept for too long; when to look again: TIMER_NEVER, or
 * nanoseconds. */
uint64_t kept_time(struct actor *actor, uint64_t now_ns);

#endif
