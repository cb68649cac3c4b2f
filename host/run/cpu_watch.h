/* SPDX-License-Identifier: MIT */
/*
 * run/cpu_watch.h - checks regularly how many CPUs the process may use.
 *
 * Quotas and affinity may change while a host runs, and the system sends no notice of that. Only a
 * change is reported, and once. I/O thread only.
 */
#ifndef HOST_RUN_CPU_WATCH_H
#define HOST_RUN_CPU_WATCH_H

#include <stdint.h>

/* reads a few small files; a changed quota takes effect within this time */
#define CPU_WATCH_MS 10000

struct cpu_watch {
    uint32_t (*read)(void *context);  /* const: effective CPUs */
    void (*on_change)(void *context); /* const */
    void *context;                    /* const */
    uint32_t seen;      /* initial value: the number that the caller has used so far */
    uint64_t looked_ms; /* 0 = not yet */
};

/* Called with each beat; `now_ms` is monotonic and not 0. The first call reads the number, then one
 * call every CPU_WATCH_MS, and the first call after a pause of the beat. */
void cpu_watch_tick(struct cpu_watch *watch, uint64_t now_ms);

#endif
