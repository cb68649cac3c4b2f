/*
 * pool/elastic.h - whether a pool resizes itself, and how senders ask it to look.
 *
 * A sender that finds no idle worker, or no room, asks for a look of scaler.h. `asked` says that
 * one is to come, so that others need not ask. A sender has put its message into the pool before it
 * asks; a look resets `asked` before it reads the figures. So no message is left unseen.
 *
 * A resize by anybody else suspends the law: a size that somebody has set stays. pool_scale_auto,
 * or a reload of the pool, resumes it.
 *
 *                   | notice starve wake | set suspend auto
 *   notice starve.. |         -          |       -          any threads at once
 *   set suspend ..  |         -          |       L          one by one, by pool->lock
 */
#ifndef POOL_ELASTIC_H
#define POOL_ELASTIC_H

#include <stdbool.h>

struct executor;
struct pool;

/* True when the pool resizes itself now. pool->lock is held. */
bool elastic_is_active_locked(const struct pool *pool);

/* The law is that of the pool's settings from now on, and not suspended. pool->lock is held;
 * elastic_wake follows. */
void elastic_set_locked(struct pool *pool);
/* Somebody else has set the size. pool->lock is held. */
void elastic_suspend_locked(struct pool *pool);
/* Tells senders whether to ask for looks. pool->lock is held, after a look. */
void elastic_tell_senders_locked(struct pool *pool);

/* After a change of the law or of the bounds: asks for a look, if there is a law. */
void elastic_wake(struct pool *pool, struct executor *executor);
/* A message waits in the pool, or a sender for room. Any thread, in a read section. */
void elastic_notice(struct pool *pool, struct executor *executor);
/* A sender has found no room in this pool, or in those below it. Likewise. */
void elastic_starve(struct pool *pool, struct executor *executor);

#endif
