/*
 * pool/unwanted.h - drops messages from the queue of a pool that no member is to take: takes and
 * requests that were given up, messages of a cancelled group, and takers of a pool that gives no
 * leases any more.
 *
 * As pulling.h, whose lock this is. The pool's actor looks for unwanted messages while any wait.
 */
#ifndef POOL_UNWANTED_H
#define POOL_UNWANTED_H

#include <stdint.h>

struct executor;
struct pool;

/* Drops waiting messages that are not wanted any more. Any thread. It scans the queue only if a
 * request or a group of the runtime was given up since the last scan, or the time-out of a waiting
 * message has passed. */
void unwanted_drop(struct pool *pool, struct executor *executor);

/* The time until the pool's actor calls unwanted_drop again; TIMER_NEVER: when a message comes that
 * may become unwanted, it gets a signal. In its turn. */
uint64_t unwanted_beat(struct pool *pool);

/* The pool has closed or stopped, or gives no leases any more: answers waiting takers with
 * `status`. */
void unwanted_refuse_takers(struct pool *pool, struct executor *executor, int status);

#endif
