/* SPDX-License-Identifier: MIT */
/*
 * pool/creation.h - makes and frees a pool: pool_create, pool_find and pool_destroy of face/pool.h;
 * and makes a pool on trial a permanent one.
 */
#ifndef POOL_CREATION_H
#define POOL_CREATION_H

#include "pool/pool.h"

/* Makes a pool on trial a member of its parent, which has made room for it. From now on the pool
 * closes with its parent. Cannot fail. */
void pool_join(struct pool *pool, struct executor *executor);

/* Makes a pool on trial at the top permanent. Any thread. */
void pool_end_trial(struct pool *pool);

#endif
