/* SPDX-License-Identifier: MIT */
/*
 * actor/wanted.h - finds out whether the result of a message is still wanted.
 *
 * Combines the time-out and the cancel of a request (request.h), the cancel of a group (group.h),
 * and the order to the worker to stop. Owner's turn.
 */
#ifndef ACTOR_WANTED_H
#define ACTOR_WANTED_H

#include "actor/actor.h"

/* A message is about to begin: 0, or the reason why it must not: WEIR_ETIMEOUT, WEIR_ECANCELLED;
 * WEIR_EREJECTED: it has crashed the program too often (spec_set_poison). */
int wanted_begin(struct actor *actor, const struct message *message);

/* The same of a message that waits on, also packed: it does not begin. Any thread. */
int wanted_status_of(struct runtime *runtime, struct executor *executor,
                     const struct message *message);

/* True when a message that waits may become unwanted. */
bool wanted_may_end(const struct message *message);

/* While this number is the same, and no time-out has passed, no message has become unwanted. Any
 * thread. */
uint64_t wanted_changes(const struct runtime *runtime);

/* The time between two looks at messages that wait, for those that are unwanted by now: a user sees
 * no figure that is older than that, and an idle thread that wakes so seldom costs nothing. */
#define WANTED_BEAT_NS UINT64_C(100000000)

/* Of a message that is handled or kept, as weir_time_left: 0 = not wanted any more. */
uint64_t wanted_time_left_ms(struct actor *actor, const struct message *message);

#endif
