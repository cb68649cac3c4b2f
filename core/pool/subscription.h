/*
 * pool/subscription.h - the events that a pool gets.
 *
 * They end with the pool's own actor. Any thread, in a read section; one at a time for a pool.
 */
#ifndef POOL_SUBSCRIPTION_H
#define POOL_SUBSCRIPTION_H

#include "pool/pool.h"

/* The pool gets these events and no others from now on: one worker each, or, with `fan_out`, all.
 * Borrows. WEIR_EINVALID (a name), WEIR_ENOMEM: nothing has changed. */
int subscription_set(struct pool *pool, struct executor *executor, const struct weir_list *names,
                     bool fan_out);

/* The same in two steps, of which the second cannot fail; or abort, also after a prepare that
 * failed. */
int subscription_prepare(struct pool *pool, struct executor *executor,
                         const struct weir_list *names);
void subscription_commit(struct pool *pool, struct executor *executor,
                         const struct weir_list *names, bool fan_out);
void subscription_abort(struct pool *pool, struct executor *executor);

#endif
