/* SPDX-License-Identifier: MIT */
#include "host/apply/opener.h"

#define THREADS_MAX 64u /* that work for one reload */
#define STUCK_MAX 64u   /* threads in opens of former reloads */

/* Exact between two reloads, except for opens that return at this moment. */
static uint32_t stuck_count(const struct assembly *assembly)
{
    struct runtime_figures figures;

    runtime_figures(assembly->runtime, &figures);
    return figures.opens_apart;
}

int opener_create(struct assembly *assembly)
{
    const struct dispatcher_policy policy = { .budget = 1 };

    return runtime_add_dispatcher(assembly->runtime, OPENER_DISPATCHER, 1, &policy,
                                  &assembly->opener);
}

int opener_begin(const struct assembly *assembly, uint32_t *out_stuck, struct report *report)
{
    uint32_t stuck = stuck_count(assembly);

    *out_stuck = stuck;
    if (stuck < STUCK_MAX)
        return 0;
    report_add(report, NULL, NULL,
               "%u opens of refused reloads have not returned, and no more may be begun before one "
               "of them does",
               stuck);
    return WEIR_EFULL;
}

void opener_run(const struct assembly *assembly, const struct settings *settings, uint32_t count,
                uint32_t stuck)
{
    uint32_t threads = 0;

    if (!assembly->opener)
        return;
    for (uint32_t i = 0; i < settings->dispatcher_count && threads < THREADS_MAX; i++)
        threads += settings->dispatchers[i].threads;
    if (threads > THREADS_MAX)
        threads = THREADS_MAX;
    if (threads > count)
        threads = count;
    /* When memory for more threads is out, the number stays: opens take longer, and a time-out
     * reports those that take too long. */
    (void)dispatcher_resize(assembly->opener, stuck + (threads ? threads : 1));
}

void opener_rest(const struct assembly *assembly)
{
    if (!assembly->opener)
        return;
    (void)dispatcher_resize(assembly->opener, stuck_count(assembly) + 1);
    dispatcher_reap(assembly->opener);
}
