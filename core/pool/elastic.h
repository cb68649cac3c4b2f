/* SPDX-License-Identifier: MIT */
/*
 * pool/elastic.h - whether a pool resizes itself, and how senders ask it for a check.
 *
 * A sender that finds no idle worker, or no room, asks for a check of scaler.h. While `asked` is
 * true a check is due, and no other sender asks. A sender puts its message into the pool before it
 * asks; a check resets `asked` before it reads the figures. So a check sees every message.
 *
 * A resize by a call or a command suspends the law, so that the size stays. pool_scale_auto,
 * or a reload of the pool, resumes it.
 *
 *                   | notice starve wake | set suspend auto
 *   notice starve.. |         -          |       -          any threads at once
 *   set suspend ..  |         -          |       L          one by one, by pool->lock
 */
#ifndef POOL_ELASTIC_H
#define POOL_ELASTIC_H

#include <stdbool.h>
#include <stdint.h>

struct executor;
struct pool;

/* True when the pool resizes itself now. pool->lock is held. */
bool elastic_is_active_locked(const struct pool *pool);

/* The law is that of the pool's settings from now on, and not suspended. pool->lock is held;
 * elastic_wake follows. */
void elastic_set_locked(struct pool *pool);
/* A call or a command has set the size. pool->lock is held. True: automatic scaling is suspended by
 * it, and elastic_log_suspended is due. */
bool elastic_suspend_locked(struct pool *pool);
/* Without the lock: see log.h. `size`: of the pool. */
void elastic_log_suspended(struct pool *pool, uint32_t size);
/* Publishes whether senders ask for checks. pool->lock is held, after a check. */
void elastic_publish_locked(struct pool *pool);

/* After a change of the law or of the bounds: asks for a check, if there is a law. */
void elastic_wake(struct pool *pool, struct executor *executor);
/* Asks for a check: a message waits in the pool, or a sender waits for room. Any thread, in a read
 * section. */
void elastic_notice(struct pool *pool, struct executor *executor);
/* True when senders wait for room in the pool, or in a pool above. Any thread. */
bool elastic_is_waited_for(struct pool *pool);
/* Asks this pool and those below it for checks: a sender has found no room there. Likewise. */
void elastic_starve(struct pool *pool, struct executor *executor);

#endif
