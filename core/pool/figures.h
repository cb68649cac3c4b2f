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

/* The number of messages that its workers have put into the pools that they feed. */
uint64_t pool_emitted(struct pool *pool);

#endif
