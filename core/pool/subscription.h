/* SPDX-License-Identifier: MIT */
/*
 * pool/subscription.h - the events that a pool subscribes to.
 *
 * The subscriptions end with the pool's own actor. Any thread, in a read section; one call at a
 * time for a pool.
 */
#ifndef POOL_SUBSCRIPTION_H
#define POOL_SUBSCRIPTION_H

#include "pool/pool.h"

/* Subscribes the pool to exactly these events from now on: for one worker each, or, with `fan_out`,
 * for all. Borrows. WEIR_EINVALID (a name), WEIR_ENOMEM: nothing has changed. */
int subscription_set(struct pool *pool, struct executor *executor, const struct weir_list *names,
                     bool fan_out);

#endif
