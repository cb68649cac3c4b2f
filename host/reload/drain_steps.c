/* SPDX-License-Identifier: MIT */
#include "host/reload/drain_steps.h"

#include "host/apply/dispatcher_change.h"
#include "host/run/draining.h"

#define NS_PER_MS 1000000ull

/* Between two steps; in the first second, and after it. */
#define STEP_MS 10
#define STEP_LATER_MS 100
#define SOON_NS (1000 * NS_PER_MS)

static uint64_t now_ns(void)
{
    struct clock clock = clock_monotonic();

    return clock_now_ns(&clock);
}

void drain_steps_begin(struct drain_steps *steps)
{
    if (steps->began_ns == 0)
        steps->began_ns = now_ns();
}

/* A dispatcher ends after the last former worker on it; one that hangs is left to later reloads. */
static bool has_more(const struct assembly *assembly, uint64_t took_ns)
{
    return assembly->drain_count > 0 ||
           (took_ns < CLOSING_TIMEOUT_MS * NS_PER_MS && dispatcher_change_has_unwanted(assembly));
}

uint64_t drain_steps_go_on(struct drain_steps *steps, struct assembly *assembly,
                           struct control_jobs *jobs, const struct log_sink *sink)
{
    uint64_t took_ns = now_ns() - steps->began_ns;

    if (assembly->drain_count > 0 && draining_go_on(assembly) == 0)
        log_answer(sink, WEIR_LOG_INFO, "reload", "removed parts have ended",
                   weir_real("drain_ms", (double)took_ns / NS_PER_MS));
    if (assembly->drain_count == 0 && jobs)
        control_jobs_release(jobs);
    dispatcher_change_collect(assembly, 0);
    if (has_more(assembly, took_ns))
        return took_ns < SOON_NS ? STEP_MS : STEP_LATER_MS;
    steps->began_ns = 0;
    return 0;
}

void drain_steps_end(struct drain_steps *steps, struct control_jobs *jobs)
{
    if (jobs)
        control_jobs_release(jobs);
    steps->began_ns = 0;
}
