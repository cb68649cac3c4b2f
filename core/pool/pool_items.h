/* SPDX-License-Identifier: MIT */
/*
 * pool/pool_items.h - the figures of a pool, for an inspect. Any thread.
 */
#ifndef POOL_POOL_ITEMS_H
#define POOL_POOL_ITEMS_H

#include "pool/pool.h"

struct inspection;

/* Adds the figures; those of all leaves for a nested pool. */
void pool_items(struct inspection *inspection, struct pool *pool);

#endif
