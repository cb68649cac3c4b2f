/* SPDX-License-Identifier: MIT */
/*
 * actor/retry.h - decides about a message whose worker says RETRY, by the `retry` of its spec.
 *
 * The time of a message that waits in its worker is known (`tried_ms`). One that has come again
 * from its origin, or is under a lease, has had the pauses of its earlier tries: their sum counts.
 * docs/decisions/424. Owner's turn only.
 */
#ifndef ACTOR_RETRY_H
#define ACTOR_RETRY_H

#include "actor/actor.h"

/* The number of the retry that the worker of a message asks for, from 1 on: attempts after a
 * failure are counted apart. */
uint32_t retry_number(const struct weir_message *message);

/*
 * False: no retry is left, or it would begin too late. True: one is, after the delay; `delay_ms`
 * has the delay that the worker set, which is the least. Notes when the first try ended.
 */
bool retry_allows(struct actor *actor, struct message *message, uint64_t *delay_ms);

#endif
