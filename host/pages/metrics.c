/* SPDX-License-Identifier: MIT */
#include "host/pages/metrics.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "host/pages/dead_file_pages.h"
#include "host/pages/lease_pages.h"
#include "host/pages/metric_lines.h"
#include "host/pages/process_pages.h"
#include "host/pages/stuck.h"
#include "host/pages/unit_pages.h"

#define NS_PER_S 1e9
#define US_PER_S 1e6

/* The figures of all pools, read once. */
struct looks {
    struct overview_pool *pools;
    uint32_t count;
};

/* --- pools ---------------------------------------------------------------------------------- */

static void pool_figure(FILE *stream, const char *name, const struct overview_pool *pool,
                        const char *label, const char *value, uint64_t number)
{
    metric_lines_write(stream, name, "pool", pool->settings->path, label, value, number);
}

static void write_workers(FILE *stream, const struct looks *looks)
{
    const char *name = "weir_pool_workers";

    metric_lines_begin(stream, name, "gauge",
                       "Workers of a pool by state; target is their wanted number.");
    for (uint32_t i = 0; i < looks->count; i++) {
        const struct overview_pool *pool = &looks->pools[i];

        if (pool->settings->nested)
            continue;
        pool_figure(stream, name, pool, "state", "target", pool->stats.target);
        pool_figure(stream, name, pool, "state", "live", pool->stats.live);
        pool_figure(stream, name, pool, "state", "busy", pool->stats.busy);
        pool_figure(stream, name, pool, "state", "starting", pool->stats.starting);
        pool_figure(stream, name, pool, "state", "retiring", pool->stats.retiring);
    }
}

static void write_messages(FILE *stream, const struct looks *looks)
{
    const char *name = "weir_pool_messages_total";

    metric_lines_begin(stream, name, "counter", "Messages of a pool by outcome.");
    for (uint32_t i = 0; i < looks->count; i++) {
        const struct overview_pool *pool = &looks->pools[i];

        pool_figure(stream, name, pool, "result", "refused", pool->stats.refused);
        if (pool->settings->nested)
            continue;
        pool_figure(stream, name, pool, "result", "accepted", pool->stats.accepted);
        pool_figure(stream, name, pool, "result", "done", pool->stats.done);
        pool_figure(stream, name, pool, "result", "dead", pool->stats.dead);
        pool_figure(stream, name, pool, "result", "moved", pool->stats.moved);
        pool_figure(stream, name, pool, "result", "unbound", pool->unbound);
    }
}

static void write_waiting(FILE *stream, const struct looks *looks)
{
    static const struct {
        const char *name, *figure, *help;
        bool is_own; /* no sum over the pools below: a pool of pools has one, too */
    } rows[] = {
        { "weir_pool_mailbox_messages", "queued", "Messages that wait in a pool's mailboxes.",
          false },
        { "weir_pool_in_hand_messages", "in_hand", "Messages that a pool's workers have in hand.",
          false },
        { "weir_pool_held_messages", "held", "Messages that wait for an outbox or a retry.",
          false },
        { "weir_pool_retrying_messages", "retrying",
          "Messages that wait in a pool's workers until they are tried again.", false },
        { "weir_pool_throttled_messages", "throttled",
          "Messages that a pool's workers emitted, and that wait for a token of an output's "
          "rate.",
          false },
        { "weir_pool_waiting", "waiting",
          "Threads, workers and sources that wait for room in a pool.", true },
        { "weir_pool_oldest_message_milliseconds", "oldest_ms",
          "How long the first in a pool's mailboxes has waited at least.", false },
        { "weir_pool_paused", "paused", "1 while it refuses every message.", false },
    };

    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        metric_lines_begin(stream, rows[row].name, "gauge", rows[row].help);
        for (uint32_t i = 0; i < looks->count; i++)
            for (uint32_t n = 0; overview_figure_name(n); n++)
                if ((rows[row].is_own || !looks->pools[i].settings->nested) &&
                    strcmp(overview_figure_name(n), rows[row].figure) == 0)
                    pool_figure(stream, rows[row].name, &looks->pools[i], NULL, NULL,
                                overview_figure(&looks->pools[i].stats, n));
    }
}

/* A limit that compares with weir_pool_mailbox_messages. */
static void write_limits(FILE *stream, const struct looks *looks)
{
    const char *name = "weir_pool_mailbox_limit_messages";

    metric_lines_begin(
        stream, name, "gauge",
        "Messages that may wait in each of a pool's mailboxes; 0 when it is unbuffered.");
    for (uint32_t i = 0; i < looks->count; i++) {
        const struct overview_pool *pool = &looks->pools[i];

        if (pool->settings->nested)
            continue;
        if (pool->stats.limit == 0) {
            fprintf(stream, "%s{pool=\"", name);
            metric_lines_put_value(stream, pool->settings->path);
            fputs("\"} +Inf\n", stream);
        } else {
            pool_figure(stream, name, pool, NULL, NULL,
                        pool->stats.limit == WEIR_UNBUFFERED ? 0 : pool->stats.limit);
        }
    }
}

static void write_resizes(FILE *stream, const struct looks *looks)
{
    const char *name = "weir_pool_resizes_total";

    metric_lines_begin(stream, name, "counter", "Changes of a pool's number of workers by cause.");
    for (uint32_t i = 0; i < looks->count; i++)
        for (int by = 0; !looks->pools[i].settings->nested && by < RESIZE_BY_COUNT; by++)
            pool_figure(stream, name, &looks->pools[i], "by", resize_by_name((enum resize_by)by),
                        looks->pools[i].resizes[by]);
}

static void write_dead(FILE *stream, const struct looks *looks)
{
    const char *name = "weir_pool_dead_total";

    metric_lines_begin(stream, name, "counter", "Dead letters of a pool by reason.");
    for (uint32_t i = 0; i < looks->count; i++)
        for (uint32_t reason = 0; !looks->pools[i].settings->nested && reason < DEAD_REASONS;
             reason++)
            pool_figure(stream, name, &looks->pools[i], "reason",
                        dead_reason_name((enum dead_reason)reason),
                        looks->pools[i].dead.counts[reason]);
    metric_lines_begin(stream, "weir_pool_dead_letters", "gauge", "Dead letters that are kept.");
    for (uint32_t i = 0; i < looks->count; i++)
        if (!looks->pools[i].settings->nested)
            pool_figure(stream, "weir_pool_dead_letters", &looks->pools[i], NULL, NULL,
                        looks->pools[i].dead.kept);
    metric_lines_begin(stream, "weir_pool_dead_letters_evicted_total", "counter",
                       "Dead letters that made room for newer ones.");
    for (uint32_t i = 0; i < looks->count; i++)
        if (!looks->pools[i].settings->nested)
            pool_figure(stream, "weir_pool_dead_letters_evicted_total", &looks->pools[i], NULL,
                        NULL, looks->pools[i].dead.evicted);
}

static void write_restarts(FILE *stream, const struct looks *looks)
{
    metric_lines_begin(stream, "weir_pool_restarts_total", "counter",
                       "Workers that failed and were replaced.");
    for (uint32_t i = 0; i < looks->count; i++)
        if (!looks->pools[i].settings->nested)
            pool_figure(stream, "weir_pool_restarts_total", &looks->pools[i], NULL, NULL,
                        looks->pools[i].stats.restarts);
}

static void take_looks_locked(const struct overview *overview, struct looks *looks)
{
    uint32_t count = overview->assembly->shared->settings->pool_count;

    looks->pools = calloc((size_t)count + 1, sizeof *looks->pools);
    looks->count = looks->pools ? count : 0;
    for (uint32_t i = 0; i < looks->count; i++)
        overview_look_locked(overview, i, &looks->pools[i]);
}

/* The names belong to the settings, so the lock is held while they are written. */
static void write_pools_locked(const struct overview *overview, FILE *stream)
{
    struct looks looks;

    take_looks_locked(overview, &looks);
    write_workers(stream, &looks);
    write_messages(stream, &looks);
    write_waiting(stream, &looks);
    write_limits(stream, &looks);
    lease_pages_metrics(looks.pools, looks.count, stream);
    write_resizes(stream, &looks);
    write_dead(stream, &looks);
    write_restarts(stream, &looks);
    free(looks.pools);
}

/* --- sources and the host ------------------------------------------------------------------- */

static void write_sources_locked(const struct overview *overview, FILE *stream)
{
    const struct settings *settings = overview->assembly->shared->settings;
    const char *name = "weir_source_messages_total";

    metric_lines_begin(stream, name, "counter", "Messages of a source by outcome.");
    for (uint32_t i = 0; i < settings->source_count; i++) {
        struct source_figures figures;

        source_look(overview->assembly->sources[i], &figures);
        metric_lines_write(stream, name, "source", settings->sources[i].name, "result", "emitted",
                           figures.emitted);
        metric_lines_write(stream, name, "source", settings->sources[i].name, "result", "dead",
                           dead_letters_total(&figures.dead));
    }
    name = "weir_source_paused";
    metric_lines_begin(stream, name, "gauge", "1 while an operator has paused the source.");
    for (uint32_t i = 0; i < settings->source_count; i++)
        metric_lines_write(stream, name, "source", settings->sources[i].name, NULL, NULL,
                           source_is_paused(overview->assembly->sources[i]));
    name = "weir_source_throttled";
    metric_lines_begin(stream, name, "gauge", "1 while a source waits for a token of its rate.");
    for (uint32_t i = 0; i < settings->source_count; i++) {
        struct source_figures figures;

        source_look(overview->assembly->sources[i], &figures);
        metric_lines_write(stream, name, "source", settings->sources[i].name, NULL, NULL,
                           figures.is_throttled);
    }
}

static void write_host_locked(const struct overview *overview, FILE *stream)
{
    const struct supervisor *supervisor = overview->supervisor;
    struct runtime_figures figures;

    runtime_figures(overview->assembly->runtime, &figures);
    metric_lines_begin(stream, "weir_config_generation", "gauge", "Of the configuration in force.");
    fprintf(stream, "weir_config_generation %" PRIu32 "\n", overview->assembly->generation);
    metric_lines_begin(stream, "weir_config_last_reload_successful", "gauge",
                       "0 when the last reload was refused.");
    fprintf(stream, "weir_config_last_reload_successful %d\n",
            !atomic_load_explicit(&supervisor->last_refused, memory_order_relaxed));
    metric_lines_begin(stream, "weir_config_reloads_total", "counter", "Reloads by result.");
    metric_lines_write(stream, "weir_config_reloads_total", "result", "accepted", NULL, NULL,
                       atomic_load_explicit(&supervisor->accepted, memory_order_relaxed));
    metric_lines_write(stream, "weir_config_reloads_total", "result", "refused", NULL, NULL,
                       atomic_load_explicit(&supervisor->refused, memory_order_relaxed));
    metric_lines_begin(stream, "weir_memory_limit_bytes", "gauge",
                       "host.memory; 0: none, and nothing is counted.");
    fprintf(stream, "weir_memory_limit_bytes %" PRIu64 "\n", figures.memory_limit);
    metric_lines_begin(stream, "weir_memory_bytes", "gauge",
                       "Of these, bytes that are taken by messages.");
    fprintf(stream, "weir_memory_bytes %" PRIu64 "\n", figures.memory);
    metric_lines_begin(stream, "weir_memory_refused_total", "counter",
                       "Messages for which there was no room.");
    fprintf(stream, "weir_memory_refused_total %" PRIu64 "\n", figures.memory_refused);
    metric_lines_begin(stream, "weir_late_replies_total", "counter",
                       "Replies to requests that had been given up.");
    fprintf(stream, "weir_late_replies_total %" PRIu64 "\n", figures.late_replies);
    metric_lines_begin(stream, "weir_late_notices_total", "counter",
                       "Notices of settled messages to origins that had ended.");
    fprintf(stream, "weir_late_notices_total %" PRIu64 "\n", figures.late_notices);
    dead_file_pages_metrics(overview, stream);
    metric_lines_begin(stream, "weir_threads_stuck", "gauge",
                       "Threads in a callback that takes longer than host.turn_warning.");
    fprintf(stream, "weir_threads_stuck %" PRIu32 "\n", stuck_look(overview).stuck);
    metric_lines_begin(stream, "weir_threads_spare", "gauge",
                       "Threads that work in their place, or for pools that find none.");
    fprintf(stream, "weir_threads_spare %" PRIu32 "\n", stuck_look(overview).spares);
    metric_lines_begin(stream, "weir_build_info", "gauge", "1; the version of this host.");
    fprintf(stream, "weir_build_info{version=\"%s\",abi=\"%d.%d\"} 1\n", overview->version,
            WEIR_ABI_MAJOR, WEIR_ABI_MINOR);
}

/* --- the process ---------------------------------------------------------------------------- */

static void write_number(FILE *stream, const char *name, const char *type, const char *help,
                         double number)
{
    metric_lines_begin(stream, name, type, help);
    fprintf(stream, "%s %.17g\n", name, number);
}

/* Without a descriptor to count them there is no figure: 0 would be one. */
static void write_descriptors(FILE *stream)
{
    DIR *directory = opendir("/proc/self/fd");
    uint32_t count = 0;

    if (!directory)
        return;
    while (readdir(directory))
        count++;
    closedir(directory);
    /* without `.`, `..` and the directory itself */
    write_number(stream, "process_open_fds", "gauge", "Open descriptors.", count - 3);
}

static void write_memory(FILE *stream)
{
    FILE *file = fopen("/proc/self/statm", "re");
    uint64_t pages, resident;

    if (!file)
        return;
    if (fscanf(file, "%" SCNu64 " %" SCNu64, &pages, &resident) == 2) {
        double page = (double)sysconf(_SC_PAGESIZE);

        write_number(stream, "process_virtual_memory_bytes", "gauge", "Address space.",
                     (double)pages * page);
        write_number(stream, "process_resident_memory_bytes", "gauge", "Memory in RAM.",
                     (double)resident * page);
    }
    (void)fclose(file);
}

static void write_process(const struct overview *overview, FILE *stream)
{
    uint64_t age_ns = clock_now_ns(&overview->clock) - overview->started_ns;
    struct rusage usage;
    struct rlimit limit;

    if (getrusage(RUSAGE_SELF, &usage) == 0)
        write_number(stream, "process_cpu_seconds_total", "counter", "User and system time.",
                     (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                         (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / US_PER_S);
    write_memory(stream);
    write_descriptors(stream);
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
        write_number(stream, "process_max_fds", "gauge", "Descriptors that may be open.",
                     (double)limit.rlim_cur);
    write_number(stream, "process_start_time_seconds", "gauge", "Since the epoch.",
                 (double)overview->date_us() / US_PER_S - (double)age_ns / NS_PER_S);
}

void metrics_write(const struct overview *overview, FILE *stream)
{
    lock_acquire(&overview->assembly->lock);
    write_pools_locked(overview, stream);
    process_pages_metrics_locked(overview, stream);
    write_sources_locked(overview, stream);
    unit_pages_metrics_locked(overview, stream);
    write_host_locked(overview, stream);
    lock_release(&overview->assembly->lock);
    write_process(overview, stream);
}
