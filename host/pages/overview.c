#include "host/pages/overview.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "config/capacity.h"
#include "config/json.h"
#include "config/language.h"
#include "host/pages/dead_file_pages.h"
#include "host/pages/draining_pages.h"
#include "host/pages/lease_pages.h"
#include "host/pages/member_list.h"
#include "host/pages/readiness.h"
#include "host/pages/stuck.h"
#include "host/pages/unit_pages.h"

#define NS_PER_MS 1000000u

/* --- pools as JSON -------------------------------------------------------------------------- */

static void write_dead(struct json *json, const struct dead_letters_figures *dead)
{
    json_begin_object(json, "dead_letters");
    overview_write_dead(json, dead);
    json_end(json);
}

/* Only a range has bounds: with a fixed size `weir scale` may set any size. */
static void write_range(struct json *json, const struct settings_pool *settings)
{
    if (settings->core.size_min == settings->core.size_max)
        return;
    json_unsigned(json, "size_min", settings->core.size_min);
    json_unsigned(json, "size_max", settings->core.size_max);
}

/* As in the file: a number, or a word. */
static void write_mailbox(struct json *json, uint32_t capacity)
{
    if (capacity_word(capacity))
        json_text(json, "mailbox", capacity_word(capacity));
    else
        json_unsigned(json, "mailbox", capacity);
}

static void write_resizes(struct json *json, const struct overview_pool *pool)
{
    json_begin_object(json, "resizes");
    for (int by = 0; by < RESIZE_BY_COUNT; by++)
        json_unsigned(json, resize_by_name((enum resize_by)by), pool->resizes[by]);
    json_end(json);
}

/* `overview` NULL: without the names of takers. */
static void write_leases(struct json *json, const struct overview_pool *pool,
                         const struct overview *overview)
{
    if (!pool->leases.on)
        return;
    json_begin_object(json, "leases");
    lease_pages_json(pool, json);
    if (overview)
        member_list_write_takers_locked(overview, pool->settings->path, json);
    json_end(json);
}

static void write_figures(struct json *json, const struct overview_pool *pool)
{
    for (uint32_t i = 0; overview_figure_name(i); i++) {
        const char *word = overview_figure_word(pool, i);

        if (word)
            json_text(json, overview_figure_name(i), word);
        else
            json_unsigned(json, overview_figure_name(i), overview_figure(&pool->stats, i));
    }
}

static void write_pool(struct json *json, const struct overview_pool *pool,
                       const struct overview *overview)
{
    const struct settings_pool *settings = pool->settings;

    json_begin_object(json, NULL);
    json_text(json, "path", settings->path);
    json_bool(json, "nested", settings->nested);
    if (!settings->nested) {
        json_text(json, "use", settings->use.use);
        write_mailbox(json, settings->core.mailbox);
        json_unsigned(json, "size_in_file", settings->size);
        write_range(json, settings);
        json_text(json, "scale", pool_scaling_name(&pool->scaling));
        write_resizes(json, pool);
    }
    write_leases(json, pool, overview);
    json_text(json, "route", language_route_name(settings->core.route));
    write_figures(json, pool);
    json_unsigned(json, "unbound", pool->unbound);
    unit_pages_json(pool->units, pool->unit_count, json);
    write_dead(json, &pool->dead);
    json_end(json);
}

static void write_pools_locked(const struct overview *overview, struct json *json, const char *key)
{
    json_begin_array(json, key);
    for (uint32_t i = 0; i < overview->assembly->shared->settings->pool_count; i++) {
        struct overview_pool pool;

        overview_look_locked(overview, i, &pool);
        write_pool(json, &pool, NULL);
    }
    json_end(json);
}

/* --- pools as a table ----------------------------------------------------------------------- */

static int path_width(const struct settings *settings)
{
    size_t width = strlen("SOURCE");

    for (uint32_t i = 0; i < settings->pool_count; i++)
        if (strlen(settings->pools[i].path) > width)
            width = strlen(settings->pools[i].path);
    for (uint32_t i = 0; i < settings->source_count; i++)
        if (strlen(settings->sources[i].name) > width)
            width = strlen(settings->sources[i].name);
    return (int)width;
}

/* The state in one word, or the number of workers that are not open. */
static void pool_state(const struct overview_pool *pool, char *text, size_t size)
{
    const struct weir_pool_stats *stats = &pool->stats;

    if (stats->paused > 0)
        (void)snprintf(text, size, "paused");
    else if (stats->stopped > 0)
        (void)snprintf(text, size, "%" PRIu32 " stopped", stats->stopped);
    else if (stats->starting > 0)
        (void)snprintf(text, size, "%" PRIu32 " opening", stats->starting);
    else
        (void)snprintf(text, size, "open");
}

/* ACCEPTED is the sum of the columns from DONE to HELD. */
static void print_row(const struct overview_pool *pool, int width, FILE *stream)
{
    const struct weir_pool_stats *stats = &pool->stats;
    char state[24];

    pool_state(pool, state, sizeof state);
    fprintf(stream,
            "%-*s %-10s %5" PRIu32 " %5" PRIu32 " %5" PRIu32 " %12" PRIu64 " %12" PRIu64
            " %8" PRIu64 " %8" PRIu64 " %8" PRIu64 " %7" PRIu64 " %6" PRIu64 " %8" PRIu64
            " %8" PRIu64 " %8" PRIu64 "\n",
            width, pool->settings->path, state, stats->target, stats->live, stats->busy,
            stats->accepted, stats->done, stats->dead, stats->moved, stats->queued, stats->in_hand,
            stats->held, stats->refused, stats->retried, stats->restarts);
}

static void print_suspended_locked(const struct overview *overview, uint32_t index, FILE *stream)
{
    const char *path = overview->assembly->shared->settings->pools[index].path;
    struct pool *pool = overview->assembly->pools[index];
    struct pool_scaling scaling;

    pool_look_at_scale(pool, &scaling);
    if (scaling.suspended)
        fprintf(stream,
                "note: pool %s does not scale itself: its size was set to %" PRIu32
                "; `weir scale %s auto` ends that\n",
                path, pool_target(pool), path);
}

static void print_pools_locked(const struct overview *overview, FILE *stream)
{
    const struct settings *settings = overview->assembly->shared->settings;
    int width = path_width(settings);

    fprintf(stream, "%-*s %-10s %5s %5s %5s %12s %12s %8s %8s %8s %7s %6s %8s %8s %8s\n", width,
            "POOL", "STATE", "SIZE", "LIVE", "BUSY", "ACCEPTED", "DONE", "DEAD", "MOVED", "QUEUED",
            "IN HAND", "HELD", "REFUSED", "RETRIED", "RESTARTS");
    for (uint32_t i = 0; i < settings->pool_count; i++) {
        struct overview_pool pool;

        overview_look_locked(overview, i, &pool);
        print_row(&pool, width, stream);
    }
    for (uint32_t i = 0; i < settings->pool_count; i++)
        print_suspended_locked(overview, i, stream);
    readiness_print_locked(overview, "warning: ", stream);
    readiness_print_degraded_locked(overview, stream);
    stuck_print(overview, "warning: ", "warning: ", stream);
}

static void print_scaling(const struct overview_pool *pool, FILE *stream)
{
    const struct scale *scale = &pool->scaling.scale;
    char wait[48], idle[48];

    if (!scale->on)
        return;
    text_format_duration(scale->wait_ms, wait, sizeof wait);
    text_format_duration(scale->idle_ms, idle, sizeof idle);
    fprintf(stream, "  %-16s %s, wait %s, idle %s\n", "scale", pool_scaling_name(&pool->scaling),
            wait, idle);
}

static void print_resizes(const struct overview_pool *pool, FILE *stream)
{
    for (int by = 0; by < RESIZE_BY_COUNT; by++)
        if (pool->resizes[by])
            fprintf(stream, "  resized by %-5s %" PRIu64 "\n", resize_by_name((enum resize_by)by),
                    pool->resizes[by]);
}

static void print_figures(const struct overview_pool *pool, FILE *stream)
{
    for (uint32_t i = 0; overview_figure_name(i); i++) {
        const char *name = overview_figure_name(i);
        const char *word = overview_figure_word(pool, i);

        if (word)
            fprintf(stream, "  %-16s %s\n", name, word);
        else
            fprintf(stream, "  %-16s %" PRIu64 "\n", name, overview_figure(&pool->stats, i));
    }
}

static void print_pool(const struct overview_pool *pool, FILE *stream)
{
    fprintf(stream, "pool %s\n", pool->settings->path);
    if (!pool->settings->nested)
        fprintf(stream, "  %-16s %s\n", "use", pool->settings->use.use);
    if (!pool->settings->nested && capacity_word(pool->settings->core.mailbox))
        fprintf(stream, "  %-16s %s\n", "mailbox", capacity_word(pool->settings->core.mailbox));
    fprintf(stream, "  %-16s %s\n", "route", language_route_name(pool->settings->core.route));
    print_scaling(pool, stream);
    lease_pages_print(pool, stream);
    print_resizes(pool, stream);
    print_figures(pool, stream);
    unit_pages_print(pool, stream);
    fprintf(stream, "  %-16s %" PRIu64 "\n", "unbound", pool->unbound);
    for (uint32_t i = 0; i < DEAD_REASONS; i++)
        if (pool->dead.counts[i])
            fprintf(stream, "  dead %-11s %" PRIu64 "\n", dead_reason_name((enum dead_reason)i),
                    pool->dead.counts[i]);
    fprintf(stream, "  %-16s %" PRIu32 " kept, %" PRIu64 " evicted, %" PRIu64 " replayed\n",
            "dead letters", pool->dead.kept, pool->dead.evicted, pool->dead.replayed);
}

/* --- sources -------------------------------------------------------------------------------- */

static const char *source_state(struct source *source, const struct source_figures *figures)
{
    if (source_has_ended(source))
        return "ended";
    if (figures->is_exhausted)
        return "finishing";
    if (figures->is_throttled)
        return "throttled";
    return source_opening(source) == 0 ? "open" : "opening";
}

static void write_sources_locked(const struct overview *overview, struct json *json)
{
    const struct settings *settings = overview->assembly->shared->settings;

    json_begin_array(json, "sources");
    for (uint32_t i = 0; i < settings->source_count; i++) {
        struct source *source = overview->assembly->sources[i];
        struct pool_progress units[PLACE_UNITS];
        struct source_figures figures;

        source_look(source, &figures);
        json_begin_object(json, NULL);
        json_text(json, "name", settings->sources[i].name);
        json_text(json, "use", settings->sources[i].use.use);
        json_text(json, "to", settings->pools[settings->sources[i].to].path);
        json_text(json, "state", source_state(source, &figures));
        json_unsigned(json, "emitted", figures.emitted);
        json_unsigned(json, "dead", dead_letters_total(&figures.dead));
        unit_pages_json(units, source_progress(source, units, PLACE_UNITS), json);
        write_dead(json, &figures.dead);
        json_end(json);
    }
    json_end(json);
}

static void print_sources_locked(const struct overview *overview, FILE *stream)
{
    const struct settings *settings = overview->assembly->shared->settings;
    int width = path_width(settings);

    if (settings->source_count == 0)
        return;
    fprintf(stream, "%-*s %-9s %12s %8s\n", width, "SOURCE", "STATE", "EMITTED", "DEAD");
    for (uint32_t i = 0; i < settings->source_count; i++) {
        struct source *source = overview->assembly->sources[i];
        struct source_figures figures;

        source_look(source, &figures);
        fprintf(stream, "%-*s %-9s %12" PRIu64 " %8" PRIu64 "\n", width, settings->sources[i].name,
                source_state(source, &figures), figures.emitted, dead_letters_total(&figures.dead));
    }
    fputc('\n', stream);
}

/* --- the host ------------------------------------------------------------------------------- */

static uint64_t uptime_ms(const struct overview *overview)
{
    return (clock_now_ns(&overview->clock) - overview->started_ns) / NS_PER_MS;
}

/* Plugins without users that cannot be unloaded. */
static uint32_t plugins_kept(const struct overview *overview)
{
    const struct configuration *configuration = overview->supervisor->configuration;

    /* Relaxed: a figure for people. */
    return configuration ? atomic_load_explicit(&configuration->kept, memory_order_relaxed) : 0;
}

static void write_host_locked(const struct overview *overview, struct json *json)
{
    const char *name = overview->assembly->shared->settings->host.name;
    struct runtime_figures figures;

    runtime_figures(overview->assembly->runtime, &figures);
    json_begin_object(json, "host");
    if (name)
        json_text(json, "name", name);
    json_text(json, "state", overview_state(overview));
    json_text(json, "version", overview->version);
    json_unsigned(json, "pid", (uint64_t)getpid());
    json_text(json, "file", overview->file);
    json_unsigned(json, "uptime_ms", uptime_ms(overview));
    json_unsigned(json, "generation", overview->assembly->generation);
    json_unsigned(json, "plugins_kept", plugins_kept(overview));
    json_unsigned(json, "threads_stuck", stuck_look(overview).stuck);
    json_unsigned(json, "threads_spare", stuck_look(overview).spares);
    json_unsigned(json, "memory_limit", figures.memory_limit);
    json_unsigned(json, "memory_bytes", figures.memory);
    json_unsigned(json, "late_replies", figures.late_replies);
    json_unsigned(json, "late_notices", figures.late_notices);
    json_unsigned(json, "reloads_accepted",
                  atomic_load_explicit(&overview->supervisor->accepted, memory_order_relaxed));
    json_unsigned(json, "reloads_refused",
                  atomic_load_explicit(&overview->supervisor->refused, memory_order_relaxed));
    dead_file_pages_json(overview, json);
    json_end(json);
}

/* Late replies and notices get a line only when there are any. */
static void print_late(const struct overview *overview, FILE *stream)
{
    struct runtime_figures figures;

    runtime_figures(overview->assembly->runtime, &figures);
    if (figures.late_replies || figures.late_notices)
        fprintf(stream, "late: %" PRIu64 " replies, %" PRIu64 " notices to origins\n",
                figures.late_replies, figures.late_notices);
}

static void print_host_locked(const struct overview *overview, FILE *stream)
{
    const char *name = overview->assembly->shared->settings->host.name;

    fprintf(stream, "%s%s%s, weir %s, pid %d, up %" PRIu64 " s, generation %" PRIu32 " of %s\n",
            name ? name : "", name ? ": " : "", overview_state(overview), overview->version,
            (int)getpid(), uptime_ms(overview) / 1000, overview->assembly->generation,
            overview->file);
    print_late(overview, stream);
    dead_file_pages_print(overview, stream);
    if (plugins_kept(overview) > 0)
        fprintf(stream, "old versions of plugins in memory: %" PRIu32 "\n", plugins_kept(overview));
    fputc('\n', stream);
}

static void write_status_locked(const struct overview *overview, FILE *stream)
{
    struct json json;

    json_init(&json, stream);
    json_begin_object(&json, NULL);
    write_host_locked(overview, &json);
    write_sources_locked(overview, &json);
    write_pools_locked(overview, &json, "pools");
    draining_pages_write_locked(overview->assembly, &json);
    json_end(&json);
    json_finish(&json);
}

/* --- pages ---------------------------------------------------------------------------------- */

void overview_status(const struct overview *overview, bool for_people, FILE *stream)
{
    lock_acquire(&overview->assembly->lock);
    if (for_people) {
        print_host_locked(overview, stream);
        print_sources_locked(overview, stream);
        print_pools_locked(overview, stream);
        draining_pages_print_locked(overview->assembly, stream);
        unit_pages_print_all_locked(overview, stream);
    } else {
        write_status_locked(overview, stream);
    }
    lock_release(&overview->assembly->lock);
}

void overview_pools(const struct overview *overview, bool for_people, FILE *stream)
{
    struct json json;

    lock_acquire(&overview->assembly->lock);
    if (for_people) {
        print_pools_locked(overview, stream);
    } else {
        json_init(&json, stream);
        write_pools_locked(overview, &json, NULL);
        json_finish(&json);
    }
    lock_release(&overview->assembly->lock);
}

bool overview_pool(const struct overview *overview, const char *path, bool for_people, FILE *stream)
{
    struct overview_pool pool;
    struct json json;
    uint32_t index;

    lock_acquire(&overview->assembly->lock);
    index = settings_find_pool(overview->assembly->shared->settings, path);
    if (index != SETTINGS_NONE) {
        overview_look_locked(overview, index, &pool);
        if (for_people) {
            print_pool(&pool, stream);
        } else {
            json_init(&json, stream);
            write_pool(&json, &pool, overview);
            json_finish(&json);
        }
    }
    lock_release(&overview->assembly->lock);
    return index != SETTINGS_NONE;
}
