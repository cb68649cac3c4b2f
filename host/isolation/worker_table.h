/* SPDX-License-Identifier: MIT */
/*
 * isolation/worker_table.h - the table of calls in the process of an isolated worker.
 *
 * What cannot be carried over answers WEIR_EUNSUPPORTED, and says so in the log.
 */
#ifndef HOST_ISOLATION_WORKER_TABLE_H
#define HOST_ISOLATION_WORKER_TABLE_H

#include "host/isolation/worker_state.h"

void worker_fill_host(struct weir_host *host);

/* For `inspect`. */
struct worker_inspection {
    struct weir_inspection public; /* first */
    struct worker *worker;
};
void worker_begin_inspection(struct worker *worker, struct worker_inspection *out);

#endif
