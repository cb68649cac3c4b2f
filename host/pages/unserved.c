/* SPDX-License-Identifier: MIT */
#include "host/pages/unserved.h"

#include <stdlib.h>

#include "host/pages/readiness.h"

struct unserved_pool {
    const char *fed_by; /* a source or a pool; borrowed from the settings. NULL: no feeder */
    bool is_logged;
};

/* --- feeders -------------------------------------------------------------------------------- */

static void feed(struct unserved *unserved, uint32_t pool, const char *by)
{
    if (pool != SETTINGS_NONE && !unserved->pools[pool].fed_by)
        unserved->pools[pool].fed_by = by;
}

/* A pool comes before its members, so its feeder is known when the loop reaches them. */
static void find_feeders(struct unserved *unserved, const struct settings *settings)
{
    for (uint32_t i = 0; i < settings->source_count; i++)
        feed(unserved, settings->sources[i].to, settings->sources[i].name);
    for (uint32_t i = 0; i < settings->pool_count; i++)
        for (uint32_t j = 0; j < settings->pools[i].output_count; j++)
            feed(unserved, settings->pools[i].outputs[j].pool, settings->pools[i].path);
    for (uint32_t i = 0; i < settings->pool_count; i++)
        if (settings->pools[i].parent != SETTINGS_NONE)
            feed(unserved, i, unserved->pools[settings->pools[i].parent].fed_by);
}

/* False: memory is out. */
static bool follow_settings_locked(struct unserved *unserved, const struct assembly *assembly)
{
    const struct settings *settings = assembly->shared->settings;

    if (unserved->pools && unserved->shared == assembly->shared &&
        unserved->generation == assembly->generation)
        return true;
    free(unserved->pools);
    unserved->pools = calloc((size_t)settings->pool_count + 1, sizeof *unserved->pools);
    unserved->shared = assembly->shared;
    unserved->generation = assembly->generation;
    if (unserved->pools)
        find_feeders(unserved, settings);
    return unserved->pools != NULL;
}

/* --- reporting ------------------------------------------------------------------------------- */

static void log_change(const struct unserved *unserved, const struct unserved_pool *pool,
                       const struct overview_pool *figures, const char *why)
{
    const char *path = figures->settings->path;

    if (pool->is_logged)
        log_event(unserved->sink, WEIR_LOG_ERROR, path, "pool accepts no messages",
                  weir_str("fed_by", pool->fed_by), weir_str("reason", why),
                  weir_str("effect", "its senders wait, or follow their when_full"));
    else
        log_event(unserved->sink, WEIR_LOG_INFO, path, "pool has workers again",
                  weir_uint("live", figures->stats.live));
}

/* True when its manager, or the pool itself, may add workers. */
static bool will_be_filled(const struct overview_pool *pool)
{
    return pool->stats.target == 0 &&
           (pool->settings->manager.use || pool->settings->core.scale.on);
}

static void look_at_locked(struct unserved *unserved, uint32_t index)
{
    struct unserved_pool *pool = &unserved->pools[index];
    struct overview_pool figures;
    char why[READINESS_REASON_SIZE];
    bool is_empty;

    overview_look_locked(unserved->overview, index, &figures);
    is_empty = readiness_is_empty(&figures, why, sizeof why) && !will_be_filled(&figures);
    if (is_empty == pool->is_logged || (pool->is_logged && figures.stats.live == 0))
        return; /* logged already; it serves again when a worker is open */
    pool->is_logged = is_empty;
    log_change(unserved, pool, &figures, why);
}

void unserved_look(struct unserved *unserved)
{
    struct assembly *assembly = unserved->overview->assembly;
    const struct settings *settings;

    /* Acquire pairs with the supervisor's release. A host that ends empties its pools: no reason to
     * log. */
    if (atomic_load_explicit(&assembly->stopping, memory_order_acquire))
        return;
    lock_acquire(&assembly->lock);
    settings = assembly->shared->settings;
    if (follow_settings_locked(unserved, assembly))
        for (uint32_t i = 0; i < settings->pool_count; i++)
            if (unserved->pools[i].fed_by && !settings->pools[i].nested)
                look_at_locked(unserved, i);
    lock_release(&assembly->lock);
}

void unserved_tick(struct unserved *unserved, uint64_t now_ms)
{
    if (now_ms - unserved->looked_ms < UNSERVED_MS)
        return;
    unserved->looked_ms = now_ms;
    unserved_look(unserved);
}

void unserved_finish(struct unserved *unserved)
{
    free(unserved->pools);
    unserved->pools = NULL;
}
