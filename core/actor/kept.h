/* SPDX-License-Identifier: MIT */
/*
 * actor/kept.h - the messages that a worker keeps to settle them later, and the warning for those
 * that it keeps too long. Owner's turn only.
 */
#ifndef ACTOR_KEPT_H
#define ACTOR_KEPT_H

#include "actor/actor.h"

/* Takes a message that the worker keeps. */
void kept_add(struct actor *actor, struct message *message);

/* Whether the worker keeps the message, which may be freed: compares addresses first. False for a
 * message that was settled as WEIR_FAIL: it stays in the list until the incarnation ends. */
bool kept_has(const struct actor *actor, const struct message *message);

/* Logs each message once that has been kept for too long. Returns the time of the next check in
 * nanoseconds, or TIMER_NEVER. */
uint64_t kept_time(struct actor *actor, uint64_t now_ns);

#endif
