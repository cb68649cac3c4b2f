/*
 * pool/manager.h - who handles the messages that are for a pool itself: urgent and high.
 *
 * A pool's own actor runs its manager on the `default` dispatcher: a behaviour with a life like a
 * worker's, or, without one, what stands here, which needs no life. Owner's turn only, but for
 * manager_set.
 */
#ifndef POOL_MANAGER_H
#define POOL_MANAGER_H

#include "pool/pool.h"

/*
 * The built-in manager: carries out a message of <weir/pool.h>, and replies to a request. Does not
 * take the message. WEIR_EUNSUPPORTED: it is none of those; else why it was not carried out.
 */
int manager_handle(struct actor *actor, struct message *message);

/*
 * From a turn of its own on the pool's messages are handled by a new incarnation of `spec`, NULL
 * for the built-in manager; the old one closes first. Takes a reference; no memory is needed.
 * pool->lock is held. Any thread.
 */
void manager_set_locked(struct pool *pool, struct spec *spec, struct executor *executor);

/* What the pool's own actor asks of it as its owner. */
extern const struct owner_ops manager_owner_ops;

#endif
