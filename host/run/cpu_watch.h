/*
 * run/cpu_watch.h - looks now and then whether the process may still use as many CPUs.
 *
 * Quotas and affinity are changed by others while a host runs, and nothing tells of it. Only a
 * change is told, and once. I/O thread only.
 */
#ifndef HOST_RUN_CPU_WATCH_H
#define HOST_RUN_CPU_WATCH_H

#include <stdint.h>

#define CPU_WATCH_MS 10000 /* a handful of small files; who changes a quota can wait so long */

struct cpu_watch {
    uint32_t (*read)(void *context);  /* const: effective CPUs */
    void (*on_change)(void *context); /* const */
    void *context;                    /* const */
    uint32_t seen;                    /* at first: what was read before anything was made of it */
    uint64_t looked_ms;               /* 0 = not yet */
};

/* With each beat; `now_ms` is monotonic and not 0. Looks at once, then every CPU_WATCH_MS; after
 * a rest of the host, when there was no beat, at once. */
void cpu_watch_tick(struct cpu_watch *watch, uint64_t now_ms);

#endif
