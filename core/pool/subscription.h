/*
 * pool/subscription.h - the events that a pool gets.
 *
 * They end with the pool's own actor. Any thread, in a read section; one at a time for a pool.
 */
#ifndef POOL_SUBSCRIPTION_H
#define POOL_SUBSCRIPTION_H

#include "pool/pool.h"

/* The pool gets these events and no others from now on: one worker each, or, with `fan_out`, all.
 * Borrows. WEIR_EINVALID (a name), WEIR_ENOMEM: it gets some of them. */
int subscription_set(struct pool *pool, struct executor *executor, const struct weir_list *names,
                     bool fan_out);

#endif
