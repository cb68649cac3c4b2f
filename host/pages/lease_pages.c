/* SPDX-License-Identifier: MIT */
#include "host/pages/lease_pages.h"

#include <inttypes.h>

#include "base/plural.h"
#include "config/json.h"
#include "host/pages/metric_lines.h"

#define NS_PER_US 1000u
#define NS_PER_S 1e9

/* --- JSON ------------------------------------------------------------------------------------- */

static void write_histogram(struct json *json, const char *key, const struct histogram *histogram)
{
    uint64_t count = histogram_count(histogram);

    json_begin_object(json, key);
    json_unsigned(json, "count", count);
    json_unsigned(json, "mean", count ? histogram->sum_ns / count / NS_PER_US : 0);
    json_unsigned(json, "p50", histogram_percentile_ns(histogram, 50) / NS_PER_US);
    json_unsigned(json, "p99", histogram_percentile_ns(histogram, 99) / NS_PER_US);
    json_unsigned(json, "longest", histogram->max_ns / NS_PER_US);
    json_end(json);
}

void lease_pages_json(const struct overview_pool *pool, struct json *json)
{
    const struct pool_leases *leases = &pool->leases;

    json_unsigned(json, "free", pool->stats.idle);
    json_unsigned(json, "leased", leases->leased);
    json_unsigned(json, "waiting", leases->waiting);
    json_unsigned(json, "begun", leases->begun);
    for (int end = 0; end < LEASE_ENDS; end++)
        json_unsigned(json, pool_lease_end_name((enum lease_end)end), leases->ended[end]);
    json_begin_object(json, "unserved");
    for (int end = 0; end < TAKE_ENDS; end++)
        json_unsigned(json, pool_take_end_name((enum take_end)end), leases->unserved[end]);
    json_end(json);
    json_begin_object(json, "failed");
    json_unsigned(json, "free", leases->failed_free);
    json_unsigned(json, "leased", leases->failed_leased);
    json_end(json);
    write_histogram(json, "wait_us", &leases->waited);
    write_histogram(json, "hold_us", &leases->lasted);
}

/* --- for people ------------------------------------------------------------------------------- */

static void print_histogram(FILE *stream, const char *name, const struct histogram *histogram)
{
    if (histogram_count(histogram) == 0)
        return;
    fprintf(stream,
            "  %-16s half within %" PRIu64 " us, 99 %% within %" PRIu64 " us, longest %" PRIu64
            " us\n",
            name, histogram_percentile_ns(histogram, 50) / NS_PER_US,
            histogram_percentile_ns(histogram, 99) / NS_PER_US, histogram->max_ns / NS_PER_US);
}

void lease_pages_print(const struct overview_pool *pool, FILE *stream)
{
    const struct pool_leases *leases = &pool->leases;

    if (!leases->on)
        return;
    fprintf(stream, "  %-16s %" PRIu32 " free, %" PRIu64 " leased, %" PRIu64 " %s\n", "workers",
            pool->stats.idle, leases->leased, leases->waiting,
            plural(leases->waiting, "taker waits", "takers wait"));
    fprintf(stream, "  %-16s %" PRIu64 "\n", "leases begun", leases->begun);
    for (int end = 0; end < LEASE_ENDS; end++)
        if (leases->ended[end])
            fprintf(stream, "  leases %-9s %" PRIu64 "\n", pool_lease_end_name((enum lease_end)end),
                    leases->ended[end]);
    for (int end = 0; end < TAKE_ENDS; end++)
        if (leases->unserved[end])
            fprintf(stream, "  takes %-10s %" PRIu64 "\n", pool_take_end_name((enum take_end)end),
                    leases->unserved[end]);
    if (leases->failed_free || leases->failed_leased)
        fprintf(stream, "  %-16s %" PRIu64 " free, %" PRIu64 " leased\n", "workers failed",
                leases->failed_free, leases->failed_leased);
    print_histogram(stream, "takers waited", &leases->waited);
    print_histogram(stream, "leases lasted", &leases->lasted);
}

/* --- metrics ---------------------------------------------------------------------------------- */

static void figure(FILE *stream, const char *name, const struct overview_pool *pool,
                   const char *label, const char *value, uint64_t number)
{
    metric_lines_write(stream, name, "pool", pool->settings->path, label, value, number);
}

static void write_now(FILE *stream, const struct overview_pool *pool)
{
    const char *name = "weir_pool_leases";

    figure(stream, name, pool, "state", "free", pool->stats.idle);
    figure(stream, name, pool, "state", "leased", pool->leases.leased);
    figure(stream, name, pool, "state", "waiting", pool->leases.waiting);
}

static void write_takes(FILE *stream, const struct overview_pool *pool)
{
    const char *name = "weir_pool_takes_total";

    figure(stream, name, pool, "result", "served", pool->leases.begun);
    for (int end = 0; end < TAKE_ENDS; end++)
        figure(stream, name, pool, "result", pool_take_end_name((enum take_end)end),
               pool->leases.unserved[end]);
}

static void write_ends(FILE *stream, const struct overview_pool *pool)
{
    for (int end = 0; end < LEASE_ENDS; end++)
        figure(stream, "weir_pool_leases_ended_total", pool, "how",
               pool_lease_end_name((enum lease_end)end), pool->leases.ended[end]);
}

static void write_failures(FILE *stream, const struct overview_pool *pool)
{
    const char *name = "weir_pool_lease_failures_total";

    figure(stream, name, pool, "state", "free", pool->leases.failed_free);
    figure(stream, name, pool, "state", "leased", pool->leases.failed_leased);
}

static void write_buckets(FILE *stream, const char *name, const struct overview_pool *pool,
                          const struct histogram *histogram)
{
    char series[64], bound[32];
    uint64_t count = 0;

    (void)snprintf(series, sizeof series, "%s_bucket", name);
    for (uint32_t bucket = 0; bucket <= HISTOGRAM_BOUNDS; bucket++) {
        count += histogram->counts[bucket];
        if (bucket < HISTOGRAM_BOUNDS)
            (void)snprintf(bound, sizeof bound, "%g",
                           (double)histogram_bound_ns(bucket) / NS_PER_S);
        else
            (void)snprintf(bound, sizeof bound, "+Inf");
        figure(stream, series, pool, "le", bound, count);
    }
    fprintf(stream, "%s_sum{pool=\"", name);
    metric_lines_put_value(stream, pool->settings->path);
    fprintf(stream, "\"} %.17g\n", (double)histogram->sum_ns / NS_PER_S);
    (void)snprintf(series, sizeof series, "%s_count", name);
    figure(stream, series, pool, NULL, NULL, count);
}

static void write_waits(FILE *stream, const struct overview_pool *pool)
{
    write_buckets(stream, "weir_pool_lease_wait_seconds", pool, &pool->leases.waited);
}

static void write_holds(FILE *stream, const struct overview_pool *pool)
{
    write_buckets(stream, "weir_pool_lease_hold_seconds", pool, &pool->leases.lasted);
}

void lease_pages_metrics(const struct overview_pool *pools, uint32_t count, FILE *stream)
{
    static const struct {
        const char *name, *type, *help;
        void (*write)(FILE *stream, const struct overview_pool *pool);
    } rows[] = {
        { "weir_pool_leases", "gauge",
          "Of a pool that gives leases: free workers, leased workers, takers that wait.",
          write_now },
        { "weir_pool_takes_total", "counter", "Takes by result; served: a lease has begun.",
          write_takes },
        { "weir_pool_leases_ended_total", "counter", "Leases by how they ended.", write_ends },
        { "weir_pool_lease_failures_total", "counter",
          "Workers that failed or were revoked, by whether a holder had them.", write_failures },
        { "weir_pool_lease_wait_seconds", "histogram", "How long takers waited that were served.",
          write_waits },
        { "weir_pool_lease_hold_seconds", "histogram", "How long leases lasted that are over.",
          write_holds },
    };

    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        metric_lines_begin(stream, rows[row].name, rows[row].type, rows[row].help);
        for (uint32_t i = 0; i < count; i++)
            if (pools[i].leases.on)
                rows[row].write(stream, &pools[i]);
    }
}
