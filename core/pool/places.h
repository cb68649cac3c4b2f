/*
 * pool/places.h - what the workers tell their pool: open, broken, done, gone.
 *
 * In the worker's turn. The pool's lock is held for a few stores.
 */
#ifndef POOL_PLACES_H
#define POOL_PLACES_H

#include "pool/pool.h"

/* Its worker is open, and is found by what it calls itself. Under the pool's lock. */
void pool_place_publish_locked(struct pool *pool, struct place *place);

/* The worker has nothing left. True: it may close now. False: it has been called back, or has the
 * queue of a pool that has closed meanwhile to finish; that not if it `leaves_queue` to others. */
bool pool_place_may_close(struct place *place, bool leaves_queue);

/* The pool's own actor has ended: nothing of it runs any more. */
void pool_actor_ended(struct pool *pool, struct executor *executor);

/* What the workers ask of their pool. */
extern const struct owner_ops pool_owner_ops;

#endif
