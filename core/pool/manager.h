/* SPDX-License-Identifier: MIT */
/*
 * pool/manager.h - handles the messages for a pool itself: urgent and high ones.
 *
 * A pool's own actor runs its manager on the `default` dispatcher: a behaviour with incarnations
 * like a worker's, or the built-in manager here, which needs none. Owner's turn only, except
 * manager_set.
 */
#ifndef POOL_MANAGER_H
#define POOL_MANAGER_H

#include "pool/pool.h"

/*
 * The built-in manager: carries out a message of <weir/pool.h>, and replies to a request. Does not
 * take the message. WEIR_EUNSUPPORTED: an unknown message; else the status why it failed.
 */
int manager_handle(struct actor *actor, struct message *message);

/*
 * From some later turn on a new incarnation of `spec` handles the pool's messages; NULL: the
 * built-in manager. The old one closes first. Takes a reference; needs no memory. pool->lock is
 * held. Any thread.
 */
void manager_set_locked(struct pool *pool, struct spec *spec, struct executor *executor);

/* The operations of the owner of the pool's own actor. */
extern const struct owner_ops manager_owner_ops;

#endif
