/* SPDX-License-Identifier: MIT */
#include "host/pages/overview_figures.h"

#include <assert.h>
#include <string.h>

#include "config/capacity.h"
#include "config/json.h"

struct figure {
    const char *name;
    size_t offset;
    size_t size;
};

#define FIGURE(field)                                                                              \
    {                                                                                              \
#field, offsetof(struct weir_pool_stats, field),                                           \
            sizeof(((struct weir_pool_stats *)0)->field)                                           \
    }

static const struct figure figures[] = {
    FIGURE(target),   FIGURE(live),      FIGURE(busy),    FIGURE(starting), FIGURE(retiring),
    FIGURE(epoch),    FIGURE(accepted),  FIGURE(done),    FIGURE(dead),     FIGURE(moved),
    FIGURE(queued),   FIGURE(in_hand),   FIGURE(held),    FIGURE(refused),  FIGURE(restarts),
    FIGURE(idle),     FIGURE(paused),    FIGURE(stopped), FIGURE(degraded), FIGURE(limit),
    FIGURE(reopened), FIGURE(oldest_ms), FIGURE(retried), FIGURE(retrying), FIGURE(throttled),
    FIGURE(waiting),
};

#define FIGURES_COUNT (sizeof figures / sizeof figures[0])

/* The table needs every figure of weir_pool_stats. */
static_assert(offsetof(struct weir_pool_stats, waiting) + sizeof(uint64_t) ==
                  sizeof(struct weir_pool_stats),
              "`waiting` is the last of them; `behaviour` is in the settings, and the "
              "reasons of the dead by their names");

const char *overview_figure_name(uint32_t number)
{
    return number < FIGURES_COUNT ? figures[number].name : NULL;
}

uint64_t overview_figure(const struct weir_pool_stats *stats, uint32_t number)
{
    const char *field = (const char *)stats + figures[number].offset;
    uint64_t wide;
    uint32_t narrow;

    if (figures[number].size == sizeof wide) {
        memcpy(&wide, field, sizeof wide);
        return wide;
    }
    memcpy(&narrow, field, sizeof narrow);
    return narrow;
}

const char *overview_figure_word(const struct overview_pool *pool, uint32_t number)
{
    bool is_limit = strcmp(figures[number].name, "limit") == 0;

    /* A pool of pools has no limit of its own. */
    return is_limit && !pool->settings->nested ? capacity_word((uint32_t)pool->stats.limit) : NULL;
}

void overview_look_locked(const struct overview *overview, uint32_t index,
                          struct overview_pool *out)
{
    struct pool *pool = overview->assembly->pools[index];

    *out = (struct overview_pool){
        .pool = pool,
        .pools = overview->assembly->shared->settings->pools,
        .settings = &overview->assembly->shared->settings->pools[index],
        .stats = { .size = sizeof out->stats },
    };
    pool_stats(pool, &out->stats);
    pool_dead(pool, &out->dead);
    out->unbound = pool_unbound(pool);
    pool_look_at_scale(pool, &out->scaling);
    pool_look_at_leases(pool, &out->leases);
    for (int by = 0; by < RESIZE_BY_COUNT; by++)
        out->resizes[by] = pool_resizes(pool, (enum resize_by)by);
    if (!out->settings->nested)
        out->unit_count = pool_progress(pool, out->units, PLACE_UNITS);
}

void overview_write_dead(struct json *json, const struct dead_letters_figures *dead)
{
    json_unsigned(json, "total", dead_letters_total(dead));
    json_unsigned(json, "kept", dead->kept);
    json_unsigned(json, "kept_bytes", dead->kept_bytes);
    json_unsigned(json, "evicted", dead->evicted);
    json_unsigned(json, "replayed", dead->replayed);
    json_unsigned(json, "deleted", dead->deleted);
    json_begin_object(json, "reasons");
    for (uint32_t i = 0; i < DEAD_REASONS; i++)
        json_unsigned(json, dead_reason_name((enum dead_reason)i), dead->counts[i]);
    json_end(json);
}

const char *overview_state(const struct overview *overview)
{
    return atomic_load_explicit(&overview->assembly->stopping, memory_order_acquire) ? "stopping"
                                                                                     : "running";
}
