/* SPDX-License-Identifier: MIT */
#include "host/pages/outage.h"

#include <stdlib.h>

struct outage_pool {
    uint64_t done;     /* at the last check */
    uint64_t retried;  /* when the last message was done */
    uint64_t began_ms; /* the first check that has seen a retry since then; 0: none */
    bool is_logged;
};

/* False: memory is out. */
static bool follow_settings_locked(struct outage *outage, const struct assembly *assembly)
{
    if (outage->pools && outage->shared == assembly->shared &&
        outage->generation == assembly->generation)
        return true;
    free(outage->pools);
    outage->pools = calloc((size_t)assembly->shared->settings->pool_count + 1,
                           sizeof *outage->pools);
    outage->shared = assembly->shared;
    outage->generation = assembly->generation;
    return outage->pools != NULL;
}

static void log_begin(const struct outage *outage, const struct overview_pool *figures,
                      uint64_t retries, uint64_t since_ms)
{
    char reason[128];

    pool_retry_reason(figures->pool, reason, sizeof reason);
    log_event(outage->sink, WEIR_LOG_WARNING, figures->settings->path,
              "messages are only given again", weir_str("reason", reason),
              weir_uint("retries", retries), weir_uint("since_ms", since_ms),
              weir_str("effect", "none is done until that passes"));
}

static void look_at_locked(struct outage *outage, uint32_t index, uint64_t now_ms)
{
    struct outage_pool *pool = &outage->pools[index];
    struct overview_pool figures;

    overview_look_locked(outage->overview, index, &figures);
    if (figures.stats.done != pool->done) {
        if (pool->is_logged)
            log_event(outage->sink, WEIR_LOG_INFO, figures.settings->path,
                      "messages are done again", weir_uint("after_ms", now_ms - pool->began_ms),
                      weir_uint("retries", figures.stats.retried - pool->retried));
        *pool = (struct outage_pool){ .done = figures.stats.done,
                                      .retried = figures.stats.retried };
    } else if (pool->began_ms == 0) {
        if (figures.stats.retried > pool->retried)
            pool->began_ms = now_ms;
    } else if (!pool->is_logged && now_ms - pool->began_ms >= OUTAGE_MS &&
               figures.stats.retried > pool->retried + 1) {
        pool->is_logged = true;
        log_begin(outage, &figures, figures.stats.retried - pool->retried, now_ms - pool->began_ms);
    }
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
}
