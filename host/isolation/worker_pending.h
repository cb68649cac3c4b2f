/* SPDX-License-Identifier: MIT */
/*
 * isolation/worker_pending.h - timers and requests in the process of an isolated worker: the host
 * has them, and calls back with their numbers.
 */
#ifndef HOST_ISOLATION_WORKER_PENDING_H
#define HOST_ISOLATION_WORKER_PENDING_H

#include "host/isolation/worker_state.h"

/* Takes the timer or request with this number out of the list, unless it comes again; NULL: none.
 * Owned when it is taken out. */
struct worker_pending *worker_take_pending(struct worker *worker, uint64_t cookie);

/* Enters the calls of this file. */
void worker_fill_pending(struct weir_host *host);

#endif
