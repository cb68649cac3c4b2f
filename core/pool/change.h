/* SPDX-License-Identifier: MIT */
/*
 * pool/change.h - the change of one pool as a transaction: prepare, check, commit or abort.
 *
 * Everything that can fail happens in prepare: memory, and new workers, which open beside the
 * present ones; the commit makes them members. The commit allocates nothing and cannot fail; it is
 * ordered with the pool's resizes by pool->lock. One change of a pool at a time.
 *
 * The present workers of an exclusive behaviour are stopped before the change is prepared. After an
 * abort, new workers of the present spec open in their places.
 */
#ifndef POOL_CHANGE_H
#define POOL_CHANGE_H

#include "face/pool_change.h"
#include "pool/figures.h"

struct pool_change {
    struct pool *pool;
    struct pool_change_options options;
    struct members *next;  /* room for `size`, or for the nested pools */
    struct outlet *outlet; /* of the new workers; NULL: that of the present ones */
};

/* True: the present workers leave at the commit. */
bool change_replaces_workers(const struct pool_change_options *options);

#endif
