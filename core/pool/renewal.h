/* SPDX-License-Identifier: MIT */
/*
 * pool/renewal.h - orders to restart the workers of a pool in their places: see actor/restart.h.
 *
 * An operator *asks*: no message is lost, and the request to a worker that keeps messages for too
 * long can be cancelled. A pool above *orders* when its member fails too often. Mailbox, outbox,
 * retries and counters stay; the next incarnation gets the stash first.
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

/* Orders a restart of each worker of a pool and of the pools below, or only of workers that stay
 * closed (ACTOR_STOPPED). Workers that are not open wait for the pause first. The pools begin to
 * count failures from 0. */
void renewal_order(struct pool *pool, bool stopped_only, uint64_t pause_ms,
                   struct executor *executor);

/* True while an order to a worker has not been carried out. */
bool renewal_is_ordered(struct place *place);

/* The worker is ready, and its restart begins. As `restart` of struct owner_ops. */
bool renewal_begin(struct place *place, uint64_t *out_pause_ms);

/* The worker has opened, or its open failed. The pool's lock is held. */
void renewal_opened_locked(struct place *place);
void renewal_broken_locked(struct place *place);

#endif
