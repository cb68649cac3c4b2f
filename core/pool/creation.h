/*
 * pool/creation.h - makes a pool, and frees it: pool_create, pool_find, pool_destroy of
 * face/pool.h; and lets in one that was made apart.
 */
#ifndef POOL_CREATION_H
#define POOL_CREATION_H

#include "pool/pool.h"

/* For a pool that was made apart, after its parent has made room: makes it a member of its parent,
 * with which it closes from now on. Cannot fail. */
void pool_join(struct pool *pool, struct executor *executor);

/* Makes a pool at the top permanent that was made apart. Any thread. */
void pool_end_trial(struct pool *pool);

#endif
