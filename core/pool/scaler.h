/* SPDX-License-Identifier: MIT */
/*
 * pool/scaler.h - an elastic pool: checks its figures, and does what scale_law.h decides.
 *
 * A check is a part of the turn of the pool's own actor, which its timer, or a sender (elastic.h),
 * signals. While messages wait there is a check in each quarter of `wait`; while the pool is larger
 * than its minimum, one in each SCALE_SHARE of `idle`. Otherwise the timer is not armed. When the
 * pool has its maximum, and the log says so, senders ask for no check.
 */
#ifndef POOL_SCALER_H
#define POOL_SCALER_H

struct dispatcher;
struct executor;
struct pool;

/* Before the actor of the pool is made, which will run on `dispatcher`. WEIR_ENOMEM. */
int scaler_reserve(struct pool *pool, struct dispatcher *dispatcher);
/* No check happens any more; also of a pool without a timer. */
void scaler_finish(struct pool *pool);

/* One check, which also drops messages of the queue that are not wanted any more. In the turn of
 * the pool's actor, also of a pool without a law. */
void scaler_check(struct pool *pool, struct executor *executor);

#endif
