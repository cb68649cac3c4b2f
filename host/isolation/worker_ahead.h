/* SPDX-License-Identifier: MIT */
/*
 * isolation/worker_ahead.h - messages that the host gave ahead, in the process of an isolated
 * worker.
 */
#ifndef HOST_ISOLATION_WORKER_AHEAD_H
#define HOST_ISOLATION_WORKER_AHEAD_H

#include "host/isolation/worker_state.h"

/* The message does not fit into the memory of the process, which ends with it. WEIR_ENOMEM. */
int worker_lacks_memory(struct worker *worker, uint64_t number);
/* Carries out `handle` for a message, unless the host must decide before, and answers. `from`: the
 * content of its frame. */
int worker_run_message(struct worker *worker, uint64_t number, struct unparcel *from);
/* The same for the first one of those that came during a call. There is one. */
int worker_run_ahead(struct worker *worker);

#endif
