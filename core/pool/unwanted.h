/* SPDX-License-Identifier: MIT */
/*
 * pool/unwanted.h - drops messages that no member is to take, from the queue of a pool, and from
 * the mailbox of a member behind a callback that takes long: takes and requests that were given up,
 * messages of a cancelled group, and takers of a pool that gives no leases any more.
 *
 * As pulling.h, whose lock this is. The pool's actor looks for unwanted messages while any wait.
 */
#ifndef POOL_UNWANTED_H
#define POOL_UNWANTED_H

#include <stdint.h>

struct executor;
struct message_list;
struct place;
struct pool;

/* Drops waiting messages that are not wanted any more. Any thread. It scans the queue only if a
 * request or a group of the runtime was given up since the last scan, or the time-out of a waiting
 * message has passed. */
void unwanted_drop(struct pool *pool, struct executor *executor);

/* The same in the mailbox of a member whose thread the caller holds in a callback: adds them to
 * `out`, counted, for unwanted_end. It looks at most so often as unwanted_beat says. */
void unwanted_take_out(struct place *place, struct executor *executor, struct message_list *out);
/* Ends these messages as dead. Takes them. Any thread. */
void unwanted_end(struct pool *pool, struct executor *executor, struct message_list *unwanted);

/* The time until the pool's actor calls unwanted_drop again; TIMER_NEVER: when a message comes that
 * may become unwanted, it gets a signal. In its turn. */
uint64_t unwanted_beat(struct pool *pool);

/* The pool has closed or stopped, or gives no leases any more: answers waiting takers with
 * `status`. */
void unwanted_refuse_takers(struct pool *pool, struct executor *executor, int status);

#endif
