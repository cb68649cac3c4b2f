/* SPDX-License-Identifier: MIT */
/*
 * pool/ending.h - closes a pool with its members, and finds out when all of them have ended.
 *
 * pool_close, pool_remove and pool_stop_now: see face/pool.h. Any thread; no lock is held.
 */
#ifndef POOL_ENDING_H
#define POOL_ENDING_H

#include "pool/pool.h"

/* The first step of pool_remove: marks the pool. A worker of a marked pool, or of a pool in it,
 * hands its backlog to no marked pool. */
void pool_mark_removed(struct pool *pool);

/* The time of a closing pool is over: what its workers hold or have not begun is dead, as after
 * `remove.timeout`, and they end after the callback that they are in. */
void pool_end_waiting(struct pool *pool, struct executor *executor);

/* As pool_stop_now, with the reason KILL for `close` of its members, and for monitors. */
void pool_kill(struct pool *pool, struct executor *executor);

/* Ends the pool's own actor if nothing else of the pool is left. The caller holds no lock. */
void pool_end_if_empty(struct pool *pool, struct executor *executor);

/* The pool's own actor has ended; no callback of it runs any more. */
void pool_actor_ended(struct pool *pool, struct executor *executor);

#endif
