/*
 * pages/unserved.h - logs that a pool which is fed has no worker left, and when it has one again.
 *
 * Fed means: a source or an output leads to the pool, or to a pool above it. Empty means that it
 * has no workers, or that all of them have failed too often and are stopped; pages/readiness.h
 * tells the two apart. Workers that open, or wait to be opened again, are not told, nor is an empty
 * pool whose manager may add workers. Each change is one line. A reload begins without memory: what
 * is empty after it is logged again.
 *
 * Life: zeros with `overview` and `sink` .. unserved_finish. I/O thread.
 */
#ifndef HOST_PAGES_UNSERVED_H
#define HOST_PAGES_UNSERVED_H

#include "host/pages/overview_figures.h"

#define UNSERVED_MS 250 /* between two looks: each walks all workers, as the progress does */

struct unserved_pool;

struct unserved {
    const struct overview *overview; /* const */
    const struct log_sink *sink;     /* const */
    struct unserved_pool *pools;     /* by index, of the settings `held` */
    const struct held_settings *held;
    uint32_t generation; /* of the assembly, when `pools` was made */
    uint64_t looked_ms;
};

/* With each beat: looks every UNSERVED_MS. */
void unserved_tick(struct unserved *unserved, uint64_t now_ms);

/* Looks now: before the beat stops. */
void unserved_look(struct unserved *unserved);

void unserved_finish(struct unserved *unserved);

#endif
