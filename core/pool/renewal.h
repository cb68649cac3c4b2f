/*
 * pool/renewal.h - orders to restart the workers of a pool in their places: see actor/restart.h.
 *
 * An operator *asks*: nothing is lost, and a worker that keeps messages for too long may be told
 * to go on as it is. A pool above *orders*, when its member fails too often. Mailbox, outbox,
 * retries and counters stay; the stash is given to the next incarnation first.
 *
 * The state is in the worker's place, under its pool's lock. Parents lock before children.
 */
#ifndef POOL_RENEWAL_H
#define POOL_RENEWAL_H

#include <stdbool.h>
#include <stdint.h>

#include "face/pool.h"

struct executor;
struct place;
struct pool;

/* Orders it: each worker of a pool and of those below it, or those that stay closed
 * (ACTOR_STOPPED). Workers that are not open wait for the pause first. The bounds of the pools
 * are forgotten. */
void renewal_order(struct pool *pool, bool stopped_only, uint64_t pause_ms,
                   struct executor *executor);

/* True while such an order to a worker has not been carried out. */
bool renewal_is_ordered(struct place *place);

/* Its worker is ready: the restart begins. As `restart` of struct owner_ops. */
bool renewal_begin(struct place *place, uint64_t *out_pause_ms);

/* Its worker has opened, or could not. The pool's lock is held. */
void renewal_opened_locked(struct place *place);
void renewal_broken_locked(struct place *place);

#endif
