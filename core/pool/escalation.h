/*
 * pool/escalation.h - in a pool with `then: escalate` the pool above decides what happens to a
 * member that fails too often; that pool may ask the one above it, up to the program.
 *
 * A pool that is asked counts the failure of its member against a bound of its own, by the rule
 * of actor/backoff.h. Within the bound it has the member opened again: each worker below it
 * restarts in its place (renewal.h), mailbox and counters kept, all their bounds forgotten. Past
 * the bound the pool does what its own `then` says: it goes on so with a growing pause, leaves
 * what has failed closed, or asks the pool above. One failure is counted once: a worker that
 * fails while it has an order to restart asks nobody.
 *
 * Parents lock before children, always, and what is decided at one level is decided under its
 * lock.
 */
#ifndef POOL_ESCALATION_H
#define POOL_ESCALATION_H

#include <stdbool.h>
#include <stdint.h>

#include "actor/owner.h"

struct executor;
struct pool;
struct restart;

/* Who decides when a worker fails too often now. A pool on trial, which a reload may yet take
 * back, and a worker that leaves ask nobody. Any thread. */
enum appeal escalation_appeal(struct place *place);

/* A worker of a pool stays closed and its pool asks those above. In its own turn, without locks.
 * */
void escalation_raise(struct place *place);

/* One without a time is the usual one. */
void escalation_complete(struct restart *restart);

/* Another bound for the members of a pool: what it left closed is opened once more; pool->lock is
 * held. */
void escalation_set_locked(struct pool *pool, const struct restart *restart,
                           struct executor *executor);

#endif
