/*
 * pool/figures.h - what can be read of a pool: counts, ledger, progress, who is open.
 *
 * Any thread. The pool's lock is held for a walk over its members; no worker ever waits for it but
 * to open, fail or leave.
 */
#ifndef POOL_FIGURES_H
#define POOL_FIGURES_H

#include "pool/pool.h"

/* Whether out->size is set: no smaller than in version 1.0. */
static inline bool pool_can_show(const struct weir_pool_stats *out)
{
    return out->size >= offsetof(struct weir_pool_stats, restarts) + sizeof out->restarts;
}

/* A consistent look; of all leaves when it is nested. Fills out->size bytes. Any thread. */
void pool_stats(struct pool *pool, struct weir_pool_stats *out);

/* The number of workers that it shall have. */
uint32_t pool_target(struct pool *pool);

/*
 * Lists its members, those that are leaving too: fills up to `max` elements, each `member_size`
 * apart, as far as they are known here. Returns how many there are. Any thread.
 */
uint32_t pool_members(struct pool *pool, struct weir_member *out, uint32_t member_size,
                      uint32_t max);

/* Progress of its members, also those that have ended, by unit. Returns how many; at most `max`. */
uint32_t pool_progress(struct pool *pool, struct pool_progress *out, uint32_t max);

/* Workers that are not open: not yet, or their last open failed. */
struct pool_opening {
    uint32_t starting;
    uint32_t failed;
    int status;                     /* of one that failed */
    char path[PLACE_PATH_MAX];      /* its path */
    bool manager;                   /* it is the pool's manager */
    char reason[ACTOR_DETAIL_SIZE]; /* what it said; "" = nothing */
};
/* Of this pool and below. Adds to `out`, which the caller has cleared. */
void pool_opening(struct pool *pool, struct pool_opening *out);
/* Likewise, without the pools below. */
void pool_opening_here(struct pool *pool, struct pool_opening *out);
/* Likewise, of the workers that a reload has prepared. */
void pool_opening_prepared(struct pool *pool, struct pool_opening *out);

/* Messages that its workers have put into the pools they feed. */
uint64_t pool_emitted(struct pool *pool);
/* Messages that they emitted at outputs that lead nowhere, which were freed. */
uint64_t pool_unbound(struct pool *pool);

/* Adds the dead letters of it and of all below to `out`, which the caller has cleared. They are
 * more than the ledger's `dead`: also what was emitted and found nobody, and what came in lanes of
 * its own. */
void pool_dead(struct pool *pool, struct dead_letters_figures *out);

/* What its workers did against their contract, and those of all below. */
uint64_t pool_misuses(struct pool *pool);

/* The sum of its leaves' ledgers: exact for each. */
void pool_ledger(struct pool *pool, struct ledger_reading *out);

#endif
