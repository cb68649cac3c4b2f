/* SPDX-License-Identifier: MIT */
#include "host/pages/outage.h"

#include <stdlib.h>

#include "host/pages/outage_state.h"

static int by_pool(const void *a, const void *b)
{
    uint64_t one = ((const struct outage_state *)a)->pool;
    uint64_t other = ((const struct outage_state *)b)->pool;

    return (one > other) - (one < other);
}

/* Takes over what is known of the pools that stay. Sorts what was. */
static void carry_over(struct outage *outage, struct outage_state *pools, uint32_t count)
{
    if (!outage->pools)
        return;
    qsort(outage->pools, outage->count, sizeof *outage->pools, by_pool);
    for (uint32_t i = 0; i < count; i++) {
        const struct outage_state *known = bsearch(&pools[i], outage->pools, outage->count,
                                                   sizeof *outage->pools, by_pool);

        if (known)
            pools[i] = *known;
    }
}

/* False: memory is out. */
static bool follow_settings_locked(struct outage *outage, const struct assembly *assembly)
{
    uint32_t count = assembly->shared->settings->pool_count;
    struct outage_state *pools;

    if (outage->pools && outage->shared == assembly->shared &&
        outage->generation == assembly->generation)
        return true;
    pools = calloc((size_t)count + 1, sizeof *pools);
    if (!pools)
        return false;
    for (uint32_t i = 0; i < count; i++)
        pools[i].pool = pool_pid(assembly->pools[i]);
    carry_over(outage, pools, count);
    free(outage->pools);
    outage->pools = pools;
    outage->count = count;
    outage->shared = assembly->shared;
    outage->generation = assembly->generation;
    return true;
}

static void log_begin(const struct outage *outage, const struct overview_pool *figures,
                      const struct outage_report *report)
{
    char reason[128];

    pool_retry_reason(figures->pool, reason, sizeof reason);
    log_event(outage->sink, WEIR_LOG_WARNING, figures->settings->path,
              "messages are only given again", weir_str("reason", reason),
              weir_uint("retries", report->retries), weir_uint("since_ms", report->since_ms),
              weir_str("effect", "none is done until that passes"));
}

static void look_at_locked(struct outage *outage, uint32_t index, uint64_t now_ms)
{
    struct overview_pool figures;
    struct outage_report report;

    overview_look_locked(outage->overview, index, &figures);
    report = outage_state_look(&outage->pools[index], &figures.stats, now_ms);
    if (report.news == OUTAGE_BEGINS)
        log_begin(outage, &figures, &report);
    else if (report.news == OUTAGE_ENDS)
        log_event(outage->sink, WEIR_LOG_INFO, figures.settings->path, "messages are done again",
                  weir_uint("after_ms", report.since_ms), weir_uint("retries", report.retries));
}

void outage_look(struct outage *outage, uint64_t now_ms)
{
    struct assembly *assembly = outage->overview->assembly;
    const struct settings *settings;

    lock_acquire(&assembly->lock);
    settings = assembly->shared->settings;
    if (follow_settings_locked(outage, assembly))
        for (uint32_t i = 0; i < settings->pool_count; i++)
            if (!settings->pools[i].nested)
                look_at_locked(outage, i, now_ms);
    lock_release(&assembly->lock);
}

void outage_tick(struct outage *outage, uint64_t now_ms)
{
    if (now_ms - outage->looked_ms < OUTAGE_LOOK_MS)
        return;
    outage->looked_ms = now_ms;
    outage_look(outage, now_ms);
}

void outage_finish(struct outage *outage)
{
    free(outage->pools);
    outage->pools = NULL;
    outage->count = 0;
}
