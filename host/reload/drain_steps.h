/* SPDX-License-Identifier: MIT */
/*
 * reload/drain_steps.h - when the supervisor takes the next steps of the parts that drain.
 *
 * The supervisor's thread. All zeros: nothing drains.
 */
#ifndef HOST_RELOAD_DRAIN_STEPS_H
#define HOST_RELOAD_DRAIN_STEPS_H

#include "host/reload/control_job.h"
#include "host/run/assembly.h"

struct drain_steps {
    uint64_t began_ns; /* since when parts drain; 0: none do */
};

/* After a commit. */
void drain_steps_begin(struct drain_steps *steps);

/* Takes the next steps. Returns after how many milliseconds to go on; 0: nothing is left to do, and
 * nothing drains. `jobs` may be NULL. */
uint64_t drain_steps_go_on(struct drain_steps *steps, struct assembly *assembly,
                           struct control_jobs *jobs, const struct log_sink *sink);

/* Everything has been closed. */
void drain_steps_end(struct drain_steps *steps, struct control_jobs *jobs);

#endif
