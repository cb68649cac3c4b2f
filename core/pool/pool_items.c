/* SPDX-License-Identifier: MIT */
#include "pool/pool_items.h"

#include <stdio.h>

#include "actor/inspection.h"
#include "base/text.h"
#include "face/lease_figures.h"
#include "pool/figures.h"

static void add_members(struct inspection *out, const struct weir_pool_stats *stats)
{
    inspection_number(out, "pool_size", stats->target);
    inspection_text(out, "worker_behavior", stats->behaviour);
    if (*stats->behaviour) /* else its members are pools */
        inspection_capacity(out, "worker_mailbox_size", stats->limit);
    inspection_number(out, "worker_restarts", stats->restarts);
    inspection_number(out, "messages_forwarded", stats->accepted);
    inspection_number(out, "messages_unhandled", stats->refused);
}

static void add_sizes(struct inspection *out, const struct weir_pool_stats *stats)
{
    inspection_number(out, "target", stats->target);
    inspection_number(out, "live", stats->live);
    inspection_number(out, "busy", stats->busy);
    inspection_number(out, "idle", stats->idle);
    inspection_number(out, "starting", stats->starting);
    inspection_number(out, "retiring", stats->retiring);
    inspection_number(out, "stopped", stats->stopped);
    inspection_number(out, "degraded", stats->degraded);
    inspection_number(out, "reopened", stats->reopened);
    inspection_number(out, "oldest_ms", stats->oldest_ms);
    inspection_number(out, "waiting", stats->waiting);
    inspection_number(out, "paused", stats->paused);
    inspection_number(out, "epoch", stats->epoch);
}

/* A bound without a key is left out. */
static void add_retry(struct inspection *out, struct pool *pool)
{
    char from[32], to[32], text[80];
    struct retry retry;

    lock_acquire(&pool->lock);
    retry = pool->settings.retry;
    lock_release(&pool->lock);
    if (retry.max == RETRY_UNLIMITED)
        inspection_text(out, "retry.max", "unlimited");
    else
        inspection_number(out, "retry.max", retry.max);
    if (retry.backoff_ms_max > 0) {
        text_format_duration(retry.backoff_ms_min, from, sizeof from);
        text_format_duration(retry.backoff_ms_max, to, sizeof to);
        (void)snprintf(text, sizeof text, "%s..%s", from, to);
        inspection_text(out, "retry.backoff", text);
    }
    if (retry.for_ms > 0) {
        text_format_duration(retry.for_ms, text, sizeof text);
        inspection_text(out, "retry.for", text);
    }
}

static void add_scaling(struct inspection *out, struct pool *pool)
{
    struct pool_scaling scaling;

    pool_look_at_scale(pool, &scaling);
    inspection_text(out, "scale", pool_scaling_name(&scaling));
    for (int by = 0; by < RESIZE_BY_COUNT; by++) {
        char item[WEIR_INSPECT_ITEM_MAX + 1];

        (void)snprintf(item, sizeof item, "resizes.%s", resize_by_name((enum resize_by)by));
        inspection_number(out, item, pool_resizes(pool, (enum resize_by)by));
    }
}

/* Only of a pool that gives leases. */
static void add_leases(struct inspection *out, struct pool *pool)
{
    struct pool_leases leases;

    pool_look_at_leases(pool, &leases);
    if (!leases.on)
        return;
    inspection_number(out, "leased", leases.leased);
    inspection_number(out, "takers", leases.waiting);
    inspection_number(out, "leases", leases.begun);
    for (int end = 0; end < LEASE_ENDS; end++) {
        char item[WEIR_INSPECT_ITEM_MAX + 1];

        (void)snprintf(item, sizeof item, "leases.%s", pool_lease_end_name((enum lease_end)end));
        inspection_number(out, item, leases.ended[end]);
    }
    for (int end = 0; end < TAKE_ENDS; end++) {
        char item[WEIR_INSPECT_ITEM_MAX + 1];

        (void)snprintf(item, sizeof item, "takes.%s", pool_take_end_name((enum take_end)end));
        inspection_number(out, item, leases.unserved[end]);
    }
    inspection_number(out, "failed.free", leases.failed_free);
    inspection_number(out, "failed.leased", leases.failed_leased);
}

static void add_ledger(struct inspection *out, const struct weir_pool_stats *stats)
{
    inspection_number(out, "accepted", stats->accepted);
    inspection_number(out, "done", stats->done);
    inspection_number(out, "dead", stats->dead);
    inspection_number(out, "moved", stats->moved);
    inspection_number(out, "queued", stats->queued);
    inspection_number(out, "in_hand", stats->in_hand);
    inspection_number(out, "held", stats->held);
    inspection_number(out, "refused", stats->refused);
    inspection_number(out, "restarts", stats->restarts);
    inspection_number(out, "retried", stats->retried);
}

static void add_dead(struct inspection *out, const struct weir_pool_stats *stats)
{
    for (int reason = 0; reason < DEAD_REASONS; reason++) {
        char item[WEIR_INSPECT_ITEM_MAX + 1];

        (void)snprintf(item, sizeof item, "dead.%s", dead_reason_name((enum dead_reason)reason));
        inspection_number(out, item, stats->dead_by[reason]);
    }
}

void pool_items(struct inspection *inspection, struct pool *pool)
{
    struct weir_pool_stats stats = { .size = sizeof stats };

    pool_stats(pool, &stats);
    add_members(inspection, &stats);
    add_sizes(inspection, &stats);
    add_scaling(inspection, pool);
    if (*stats.behaviour) /* else its members are pools */
        add_retry(inspection, pool);
    add_leases(inspection, pool);
    add_ledger(inspection, &stats);
    add_dead(inspection, &stats);
    inspection_number(inspection, "misuses", pool_misuses(pool));
}
