/* SPDX-License-Identifier: MIT */
/*
 * pages/process_figures.h - what the kernel says about a process: its memory, its time and its age.
 *
 * Any thread.
 */
#ifndef HOST_PAGES_PROCESS_FIGURES_H
#define HOST_PAGES_PROCESS_FIGURES_H

#include <stdbool.h>
#include <stdint.h>

struct process_figures {
    uint64_t memory; /* resident, in bytes */
    uint64_t cpu_ms; /* that it has used so far, in its own code and in the kernel */
    uint64_t age_ms; /* since its start */
};

/* False: there is no such process. The number of one that has ended may belong to another one. */
bool process_figures_read(int64_t process, struct process_figures *out);

#endif
