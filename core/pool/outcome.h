/*
 * pool/outcome.h - tells who asked how the opens of a grown pool went.
 *
 * A resize returns before its workers are open. Whoever wants to know what became of them asks, and
 * gets one message WEIR_POOL_RESIZED in the lane high: once every place made up to that epoch has
 * opened, or has failed to for the first time, or has gone. The message is made when it is asked
 * for, so that telling needs no memory and cannot be refused. Any thread.
 */
#ifndef POOL_OUTCOME_H
#define POOL_OUTCOME_H

#include "pool/pool.h"

/* Asks for the outcome of `epoch` on behalf of `to`. WEIR_EINVALID: the pool has not had that
 * epoch; WEIR_ECLOSED, WEIR_ENOMEM. */
int outcome_ask(struct pool *pool, struct executor *executor, weir_pid to, uint64_t epoch);

/* Tells those whose time has come; after each change. The caller holds no lock. */
void outcome_tell(struct pool *pool, struct executor *executor);

#endif
