/* SPDX-License-Identifier: MIT */
/*
 * pool/escalation.h - in a pool with `then: escalate` the pool above decides about a member that
 * fails too often; that pool may ask the one above it, up to the program.
 *
 * The pool above counts the failure of its member against its own bound, by the rule of
 * actor/backoff.h. Within the bound it restarts the member: each worker below restarts in its place
 * (renewal.h), keeps its mailbox and counters, and begins to count its failures from 0. Beyond the
 * bound the pool follows its own `then`: it restarts the member after growing pauses, leaves the
 * failed workers closed, or escalates to the pool above it. One failure is counted once: a worker
 * that fails while it has an order to restart does not escalate.
 *
 * Parents lock before children, always, and each level decides under its own lock.
 */
#ifndef POOL_ESCALATION_H
#define POOL_ESCALATION_H

#include <stdbool.h>
#include <stdint.h>

#include "actor/owner.h"

struct executor;
struct pool;
struct restart;

/* The appeal of a worker that fails too often now. A leaving worker does not escalate. Nor does a
 * worker in a pool on trial, because a reload may still undo the pool. Any thread. */
enum appeal escalation_appeal(struct place *place);

/* A worker stays closed, and its pool escalates. In the worker's own turn, without locks. */
void escalation_raise(struct place *place);

/* One without a time is the usual one. */
void escalation_complete(struct restart *restart);

/* Sets the bound for the members of a pool, and restarts members that it had left closed;
 * pool->lock is held. */
void escalation_set_locked(struct pool *pool, const struct restart *restart,
                           struct executor *executor);

#endif
