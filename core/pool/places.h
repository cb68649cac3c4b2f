/* SPDX-License-Identifier: MIT */
/*
 * pool/places.h - the pool as the owner of its workers: they have opened, failed, finished, ended.
 *
 * In the worker's turn. The pool's lock is held for a few stores.
 */
#ifndef POOL_PLACES_H
#define POOL_PLACES_H

#include "pool/pool.h"

/* Its worker is open: its names are found from now on. Under the pool's lock. */
void pool_place_publish_locked(struct pool *pool, struct place *place);

/* The worker's queues are empty. True: it may close now. False: it has been recalled, or must
 * finish the queue of a pool that has closed since, unless it `leaves_queue` to others. */
bool pool_place_may_close(struct place *place, bool leaves_queue);

/* The pool's operations as the owner of its workers. */
extern const struct owner_ops pool_owner_ops;

#endif
