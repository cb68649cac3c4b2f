/*
 * pool/figures.h - the figures of a pool: counts, ledger, progress, opens.
 *
 * Any thread. The pool's lock is held for a walk over its members; a worker waits for it only when
 * it opens, fails or leaves.
 */
#ifndef POOL_FIGURES_H
#define POOL_FIGURES_H

#include "pool/pool.h"

/* True when out->size is set: no smaller than in version 1.0. */
static inline bool pool_can_show(const struct weir_pool_stats *out)
{
    return out->size >= offsetof(struct weir_pool_stats, restarts) + sizeof out->restarts;
}

/* Consistent figures; the sum of all leaves for a nested pool. Fills out->size bytes. Any
 * thread. */
void pool_stats(struct pool *pool, struct weir_pool_stats *out);

/* The target number of workers. */
uint32_t pool_target(struct pool *pool);

/*
 * Lists its members, including leaving ones: fills up to `max` elements, each `member_size` apart,
 * as far as the caller's struct reaches. Returns the number of members. Any thread.
 */
uint32_t pool_members(struct pool *pool, struct weir_member *out, uint32_t member_size,
                      uint32_t max);

/* The progress of its members, including ended ones, by unit. Returns the number of units; at most
 * `max`. */
uint32_t pool_progress(struct pool *pool, struct pool_progress *out, uint32_t max);

/* Workers that are not open: not yet, or their last open failed. */
struct pool_opening {
    uint32_t starting;
    uint32_t failed;
    int status;                     /* of a failed one */
    char path[PLACE_PATH_MAX];      /* its path */
    bool manager;                   /* it is the pool's manager */
    char reason[ACTOR_DETAIL_SIZE]; /* its reason; "" = none */
};
/* Of this pool and the pools below. Adds to `out`, which the caller has cleared. */
void pool_opening(struct pool *pool, struct pool_opening *out);
/* As pool_opening, without the pools below. */
void pool_opening_here(struct pool *pool, struct pool_opening *out);
/* As pool_opening, for the workers that a reload has prepared. */
void pool_opening_prepared(struct pool *pool, struct pool_opening *out);

/* The number of messages that its workers have put into the pools that they feed. */
uint64_t pool_emitted(struct pool *pool);
/* The number of messages that they emitted at unbound outputs, which were freed. */
uint64_t pool_unbound(struct pool *pool);

/* Adds the dead letters of the pool and of all pools below to `out`, which the caller has cleared.
 * They exceed the ledger's `dead`: they include emitted messages without a receiver, and messages
 * of other lanes. */
void pool_dead(struct pool *pool, struct dead_letters_figures *out);

/* The misuses of its workers, and of all pools below. */
uint64_t pool_misuses(struct pool *pool);

/* The sum of its leaves' ledgers: exact for each. */
void pool_ledger(struct pool *pool, struct ledger_reading *out);

#endif
