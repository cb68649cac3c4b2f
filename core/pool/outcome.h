/* SPDX-License-Identifier: MIT */
/*
 * pool/outcome.h - reports the opens of a grown pool to a requester.
 *
 * A resize returns before its workers are open. An actor can request the outcome: it gets one
 * message WEIR_POOL_RESIZED in the lane high, once every place made up to that epoch has opened,
 * has failed its first open, or has ended. The message is made at the request, so the report needs
 * no memory and cannot be refused. Any thread.
 */
#ifndef POOL_OUTCOME_H
#define POOL_OUTCOME_H

#include "pool/pool.h"

/* Requests the outcome of `epoch` for `to`. WEIR_EINVALID: the pool has not had that epoch;
 * WEIR_ECLOSED, WEIR_ENOMEM. */
int outcome_ask(struct pool *pool, struct executor *executor, weir_pid to, uint64_t epoch);

/* Sends the outcomes that are complete; after each change. The caller holds no lock. */
void outcome_notify(struct pool *pool, struct executor *executor);

#endif
