/* SPDX-License-Identifier: MIT */
/*
 * pool/figures.h - the figures of a pool: counts, ledger, progress, opens.
 *
 * Any thread. The pool's lock is held for a walk over its members; a worker waits for it only when
 * it opens, fails or leaves.
 */
#ifndef POOL_FIGURES_H
#define POOL_FIGURES_H

#include "pool/pool.h"

/* As pool_opening, for the workers that a reload has prepared. */
void pool_opening_prepared(struct pool *pool, struct pool_opening *out);

/* The number of its present workers that are open. */
uint32_t pool_open_workers(struct pool *pool);

/* The number of messages that its workers have put into the pools that they feed. */
uint64_t pool_emitted(struct pool *pool);

/* How long the first message in the mailbox of a place has waited, as by age_read. pool->lock is
 * held, and messages wait. */
uint64_t figures_age_of_place_locked(struct place *place);

/* The number of messages in the queue of a pool that routes by pull, and the age of the first.
 * pool->lock is held. */
uint64_t figures_look_at_queue_locked(struct pool *pool, uint64_t *out_age_ns);

#endif
