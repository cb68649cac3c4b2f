/* SPDX-License-Identifier: MIT */
/*
 * pages/unserved.h - logs when a pool with a feeder has no worker left, and when it has one again.
 *
 * A pool has a feeder when a source or an output leads to the pool, or to a pool above it. A pool
 * is empty when it has no workers, or when all of them have failed too often and are stopped;
 * pages/readiness.h distinguishes the two. Workers that open, or wait for another try, keep a pool
 * from being empty; so does a manager that may add workers. Each change is one line. A reload
 * resets the state: pools that are empty after it are logged again.
 *
 * Life: zeros with `overview` and `sink` .. unserved_finish. I/O thread.
 */
#ifndef HOST_PAGES_UNSERVED_H
#define HOST_PAGES_UNSERVED_H

#include "host/pages/overview_figures.h"

#define UNSERVED_MS 250 /* between two checks: each visits all workers, as the progress line does */

struct unserved_pool;

struct unserved {
    const struct overview *overview; /* const */
    const struct log_sink *sink;     /* const */
    struct unserved_pool *pools;     /* by index, of the settings `shared` */
    const struct shared_settings *shared;
    uint32_t generation; /* of the assembly, when `pools` was made */
    uint64_t looked_ms;
};

/* Call it with each beat; looks every UNSERVED_MS. */
void unserved_tick(struct unserved *unserved, uint64_t now_ms);

/* Looks at once: before the beat stops. */
void unserved_look(struct unserved *unserved);

void unserved_finish(struct unserved *unserved);

#endif
