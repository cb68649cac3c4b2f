/*
 * pool/places.h - what the workers tell their pool: open, broken, done, gone.
 *
 * In the worker's turn. The pool's lock is held for a few stores.
 */
#ifndef POOL_PLACES_H
#define POOL_PLACES_H

#include "pool/pool.h"

/* The place's worker is open: lets messages in, unless it has been told to go. */
void pool_place_opened(struct pool *pool, struct place *place);

/* Its worker is open, and is found by what it calls itself. Under the pool's lock. */
void pool_place_publish_locked(struct pool *pool, struct place *place);

/* Nothing more is let in: the worker is broken. */
void pool_place_broken(struct pool *pool, struct place *place);

/* True while the worker is told to go; by when, 0 = when it can. `out_due_ns` may be NULL. */
bool pool_place_is_leaving(struct pool *pool, struct place *place, uint64_t *out_due_ns);

/* The spec that a reload left for the worker, owned by the caller; NULL: none. */
struct spec *pool_place_take_respec(struct pool *pool, struct place *place);

/* The worker has nothing left. True: it may close now. False: it has been called back, or has the
 * queue of a pool that has closed meanwhile to finish; that not if it `leaves_queue` to others. */
bool pool_place_may_close(struct pool *pool, struct place *place, bool leaves_queue);

/* The pool's own actor has ended: nothing of it runs any more. */
void pool_actor_ended(struct pool *pool, struct executor *executor);

/* The worker has ended. The pool forgets the place, whose figures it keeps. */
void pool_place_ended(struct pool *pool, struct place *place, struct executor *executor);

#endif
