/*
 * pool/change.h - the change of one pool as a transaction: prepare, look, commit or abort.
 *
 * Everything that can fail happens in prepare: memory, and new workers, which open beside the
 * present ones and are let in by the commit. The commit allocates nothing and cannot fail; it takes
 * its place in the order of the pool's resizes. One change of a pool at a time.
 *
 * Where two workers cannot live side by side, the present ones are stopped before the change is
 * prepared. When it is given up, workers like them are opened again.
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

#endif
