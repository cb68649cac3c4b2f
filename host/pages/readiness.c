/* SPDX-License-Identifier: MIT */
#include "host/pages/readiness.h"

#include <inttypes.h>

#include "base/plural.h"
#include "host/pages/stuck.h"

static bool begins_empty(const struct settings_pool *pool)
{
    return !pool->nested && pool->core.size_min == 0 && pool->core.size_max > 0;
}

/* Of pools of pools: one below it, which comes behind it. */
static bool may_be_empty(const struct settings *settings, uint32_t index)
{
    if (!settings->pools[index].nested)
        return begins_empty(&settings->pools[index]);
    for (uint32_t i = index + 1; i < settings->pool_count; i++) {
        uint32_t above = i;

        if (!begins_empty(&settings->pools[i]))
            continue;
        while (above != index && above != SETTINGS_NONE)
            above = settings->pools[above].parent;
        if (above == index)
            return true;
    }
    return false;
}

/* Why no worker is open. */
static void say_why(const struct weir_pool_stats *stats, char *why, size_t size)
{
    if (stats->target == 0)
        (void)snprintf(why, size, "it has no workers");
    else if (stats->stopped > 0)
        (void)snprintf(why, size,
                       "%" PRIu32 " of its %" PRIu32
                       " %s failed too often and %s stopped until a reload or `weir restart`",
                       stats->stopped, stats->target, plural(stats->target, "worker", "workers"),
                       plural(stats->stopped, "is", "are"));
    else if (stats->target == 1)
        (void)snprintf(why, size, "its worker is not open");
    else
        (void)snprintf(why, size, "none of its %" PRIu32 " workers is open", stats->target);
}

bool readiness_is_empty(const struct overview_pool *pool, char *why, size_t size)
{
    const struct weir_pool_stats *stats = &pool->stats;

    if (stats->live > 0 || stats->stopped < stats->target)
        return false;
    say_why(stats, why, size);
    return true;
}

/* Finds the reason why the pool accepts no messages; false: it does, or need not. */
static bool accepts_none(const struct settings *settings, uint32_t index,
                         const struct overview_pool *pool, char *why, size_t size)
{
    const struct weir_pool_stats *stats = &pool->stats;

    if (stats->paused) {
        (void)snprintf(why, size, "it is paused");
        return true;
    }
    if (stats->live > 0 || (stats->target == 0 && may_be_empty(settings, index)))
        return false;
    say_why(stats, why, size);
    return true;
}

bool readiness_print_locked(const struct overview *overview, const char *prefix, FILE *stream)
{
    const struct settings *settings = overview->assembly->shared->settings;
    bool is_ready = true;

    for (uint32_t i = 0; i < settings->pool_count; i++) {
        struct overview_pool pool;
        char why[READINESS_REASON_SIZE];

        overview_look_locked(overview, i, &pool);
        if (!accepts_none(settings, i, &pool, why, sizeof why))
            continue;
        fprintf(stream, "%spool %s accepts no messages: %s\n", prefix, pool.settings->path, why);
        is_ready = false;
    }
    return is_ready;
}

/* Not for a pool that accepts no messages, which has a line of its own. */
static void print_degraded(const struct overview_pool *pool, const struct pool_opening *opening,
                           FILE *stream)
{
    fprintf(stream,
            "warning: pool %s is degraded: %" PRIu32 " of its %" PRIu32
            " workers %s open; %s failed to open: %s%s%s\n",
            pool->settings->path, pool->stats.live, pool->stats.target,
            plural(pool->stats.live, "is", "are"), opening->path, weir_status_text(opening->status),
            opening->reason[0] ? ": " : "", opening->reason);
}

void readiness_print_degraded_locked(const struct overview *overview, FILE *stream)
{
    const struct settings *settings = overview->assembly->shared->settings;

    for (uint32_t i = 0; i < settings->pool_count; i++) {
        struct pool_opening opening = { 0 };
        struct overview_pool pool;

        if (settings->pools[i].nested)
            continue;
        pool_opening_here(overview->assembly->pools[i], &opening);
        if (opening.failed == 0)
            continue;
        overview_look_locked(overview, i, &pool);
        if (pool.stats.live > 0 && pool.stats.live < pool.stats.target)
            print_degraded(&pool, &opening, stream);
    }
}

bool readiness_write(const struct overview *overview, FILE *stream)
{
    bool is_stopping = atomic_load_explicit(&overview->assembly->stopping, memory_order_acquire);
    bool is_ready;

    if (is_stopping) {
        fprintf(stream, "%s\n", overview_state(overview));
        return false;
    }
    lock_acquire(&overview->assembly->lock);
    is_ready = readiness_print_locked(overview, "not ready: ", stream);
    is_ready &= !stuck_look(overview).is_blocked;
    if (is_ready)
        fprintf(stream, "%s\n", overview_state(overview));
    readiness_print_degraded_locked(overview, stream);
    lock_release(&overview->assembly->lock);
    stuck_print(overview, "not ready: ", is_ready ? "warning: " : NULL, stream);
    return is_ready;
}
