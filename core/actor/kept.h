/* SPDX-License-Identifier: MIT */
/*
 * actor/kept.h - the messages that a worker keeps to settle them later, and the warning for those
 * that it keeps too long. Owner's turn only.
 *
 * They are in the order in which they were kept. Once a worker with many of them settles one that
 * is not among the first, they move from the list in the actor into an index.
 */
#ifndef ACTOR_KEPT_H
#define ACTOR_KEPT_H

#include "actor/actor.h"

/* Takes a message that the worker keeps. */
void kept_add(struct actor *actor, struct message *message);

/* The kept message of that address; NULL: there is none. Reads no other message, since that of the
 * address may be freed. Its cost does not depend on the number of kept messages. */
struct message *kept_find(struct actor *actor, uint64_t address);

/* Whether the worker keeps the message, which may be freed. False for a message that was settled as
 * WEIR_FAIL: it stays in the list until the incarnation ends. */
bool kept_has(struct actor *actor, const struct message *message);

/* Keeps a message again, as the last one: it could not be passed on. */
void kept_return(struct actor *actor, struct message *message);

/* Removes a message that kept_find has found. */
void kept_remove(struct actor *actor, struct message *message);

/* The first message that was kept, and the next one after it; NULL: there is none. */
struct message *kept_first(const struct actor *actor);
struct message *kept_next(const struct actor *actor, const struct message *message);

/* The first of them, by a caller that takes all; and all of them in order. Ownership moves to the
 * caller. */
struct message *kept_take(struct actor *actor);
struct message_list kept_take_all(struct actor *actor);

/* Logs each message once that has been kept for too long. Returns the time of the next check in
 * nanoseconds, or TIMER_NEVER. */
uint64_t kept_time(struct actor *actor, uint64_t now_ns);

#endif
