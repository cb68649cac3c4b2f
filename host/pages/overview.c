/* SPDX-License-Identifier: MIT */
#include "host/pages/overview.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/columns.h"
#include "base/plural.h"
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
#include "host/pages/waits.h"

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
    waits_json(pool, json);
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

/* The table has exactly COLUMNS_PAGE columns with names of this width; longer ones are cut. */
#define POOL_WIDTH 18
/* Sources have room for longer names. */
#define SOURCE_WIDTH 64
/* Bytes of a cut name: a character of UTF-8 has up to 4. */
#define NAME_SIZE (4 * SOURCE_WIDTH + 1)

static void widen(int *width, const char *name, int max)
{
    size_t wanted = columns_width(name);

    if (wanted > (size_t)*width)
        *width = wanted < (size_t)max ? (int)wanted : max;
}

static int pool_width(const struct settings *settings)
{
    int width = (int)strlen("POOL");

    for (uint32_t i = 0; i < settings->pool_count; i++)
        widen(&width, settings->pools[i].path, POOL_WIDTH);
    return width;
}

static int source_width(const struct settings *settings)
{
    int width = (int)strlen("SOURCE");

    for (uint32_t i = 0; i < settings->source_count; i++)
        widen(&width, settings->sources[i].name, SOURCE_WIDTH);
    return width;
}

/* Left-aligned; printf would count bytes. */
static void print_name(const char *name, int width, FILE *stream)
{
    char cut[NAME_SIZE];

    columns_cut(name, (size_t)width, cut, sizeof cut);
    fprintf(stream, "%s%*s", cut, width - (int)columns_width(cut), "");
}

static void print_count(uint64_t count, int width, FILE *stream)
{
    char text[COLUMNS_CELL];

    columns_count(count, text, sizeof text);
    fprintf(stream, " %*s", width, text);
}

/* The state in one word, or the number of workers that are not open. */
static void pool_state(const struct overview_pool *pool, char *text, size_t size)
{
    const struct weir_pool_stats *stats = &pool->stats;
    char count[COLUMNS_CELL];

    columns_count(stats->stopped > 0 ? stats->stopped : stats->starting, count, sizeof count);
    if (stats->paused > 0)
        (void)snprintf(text, size, "paused");
    else if (stats->stopped > 0)
        (void)snprintf(text, size, "%s stopped", count);
    else if (stats->starting > 0)
        (void)snprintf(text, size, "%s opening", count);
    else
        (void)snprintf(text, size, "open");
}

static const struct column {
    const char *head;
    int width;
    size_t offset; /* in struct weir_pool_stats */
    bool narrow;   /* 32 bits */
} pool_columns[] = {
    { "SIZE", 5, offsetof(struct weir_pool_stats, target), true },
    { "BUSY", 5, offsetof(struct weir_pool_stats, busy), true },
    { "ACCEPTED", 8, offsetof(struct weir_pool_stats, accepted), false },
    { "DONE", 5, offsetof(struct weir_pool_stats, done), false },
    { "DEAD", 5, offsetof(struct weir_pool_stats, dead), false },
    { "QUEUED", 6, offsetof(struct weir_pool_stats, queued), false },
    { "IN HAND", 7, offsetof(struct weir_pool_stats, in_hand), false },
    { "HELD", 5, offsetof(struct weir_pool_stats, held), false },
    { "REFUSED", 7, offsetof(struct weir_pool_stats, refused), false },
    { "RESTARTS", 8, offsetof(struct weir_pool_stats, restarts), false },
};

#define POOL_COLUMNS (sizeof pool_columns / sizeof pool_columns[0])

/* ACCEPTED is the sum of the columns from DONE to HELD: a message that moved to another worker
 * counts where it is. */
static void print_row(const struct overview_pool *pool, int width, FILE *stream)
{
    struct weir_pool_stats stats = pool->stats;
    char state[24];

    stats.accepted -= stats.moved;
    pool_state(pool, state, sizeof state);
    print_name(pool->settings->path, width, stream);
    fprintf(stream, " %-10s", state);
    for (size_t i = 0; i < POOL_COLUMNS; i++) {
        const char *at = (const char *)&stats + pool_columns[i].offset;

        print_count(pool_columns[i].narrow ? *(const uint32_t *)(const void *)at
                                           : *(const uint64_t *)(const void *)at,
                    pool_columns[i].width, stream);
    }
    fputc('\n', stream);
}

static void print_pools_head(int width, FILE *stream)
{
    fprintf(stream, "%-*s %-10s", width, "POOL", "STATE");
    for (size_t i = 0; i < POOL_COLUMNS; i++)
        fprintf(stream, " %*s", pool_columns[i].width, pool_columns[i].head);
    fputc('\n', stream);
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
    int width = pool_width(settings);

    print_pools_head(width, stream);
    for (uint32_t i = 0; i < settings->pool_count; i++) {
        struct overview_pool pool;

        overview_look_locked(overview, i, &pool);
        print_row(&pool, width, stream);
    }
    for (uint32_t i = 0; i < settings->pool_count; i++) {
        struct overview_pool pool;

        overview_look_locked(overview, i, &pool);
        waits_print_retries(&pool, stream);
        waits_print(&pool, stream);
        print_suspended_locked(overview, i, stream);
    }
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
    waits_print(pool, stream);
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
    if (source_is_paused(source))
        return "paused";
    if (figures->is_throttled)
        return "throttled";
    if (figures->is_waiting)
        return "waiting";
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

static void print_paused_sources_locked(const struct overview *overview, FILE *stream)
{
    const struct settings *settings = overview->assembly->shared->settings;

    for (uint32_t i = 0; i < settings->source_count; i++)
        if (source_is_paused(overview->assembly->sources[i]))
            fprintf(stream, "note: source %s is paused: it sends nothing until `weir resume %s`\n",
                    settings->sources[i].name, settings->sources[i].name);
}

static void print_sources_locked(const struct overview *overview, FILE *stream)
{
    const struct settings *settings = overview->assembly->shared->settings;
    int width = source_width(settings);

    if (settings->source_count == 0)
        return;
    fprintf(stream, "%-*s %-9s %7s %5s\n", width, "SOURCE", "STATE", "EMITTED", "DEAD");
    for (uint32_t i = 0; i < settings->source_count; i++) {
        struct source *source = overview->assembly->sources[i];
        struct source_figures figures;

        source_look(source, &figures);
        print_name(settings->sources[i].name, width, stream);
        fprintf(stream, " %-9s", source_state(source, &figures));
        print_count(figures.emitted, 7, stream);
        print_count(dead_letters_total(&figures.dead), 5, stream);
        fputc('\n', stream);
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
        fprintf(stream, "late: %" PRIu64 " %s, %" PRIu64 " %s to origins\n", figures.late_replies,
                plural(figures.late_replies, "reply", "replies"), figures.late_notices,
                plural(figures.late_notices, "notice", "notices"));
}

static void print_host_locked(const struct overview *overview, FILE *stream)
{
    const char *name = overview->assembly->shared->settings->host.name;
    char up[COLUMNS_CELL];

    columns_age(uptime_ms(overview), up, sizeof up);
    fprintf(stream, "%s%s%s, weir %s, pid %d, up %s, generation %" PRIu32 " of %s\n",
            name ? name : "", name ? ": " : "", overview_state(overview), overview->version,
            (int)getpid(), up, overview->assembly->generation, overview->file);
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

static void print_status_locked(const struct overview *overview, FILE *stream)
{
    print_host_locked(overview, stream);
    print_sources_locked(overview, stream);
    print_pools_locked(overview, stream);
    print_paused_sources_locked(overview, stream);
    draining_pages_print_locked(overview->assembly, stream);
    unit_pages_print_all_locked(overview, stream);
}

/* No line is wider than a page: warnings and paths are broken. Without memory there is no text. */
static void print_folded_locked(const struct overview *overview,
                                void (*print_locked)(const struct overview *overview, FILE *stream),
                                FILE *stream)
{
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);

    if (!memory)
        return;
    print_locked(overview, memory);
    if (fclose(memory) == 0)
        columns_fold(text, stream);
    free(text);
}

void overview_status(const struct overview *overview, bool for_people, FILE *stream)
{
    lock_acquire(&overview->assembly->lock);
    if (for_people)
        print_folded_locked(overview, print_status_locked, stream);
    else
        write_status_locked(overview, stream);
    lock_release(&overview->assembly->lock);
}

void overview_pools(const struct overview *overview, bool for_people, FILE *stream)
{
    struct json json;

    lock_acquire(&overview->assembly->lock);
    if (for_people) {
        print_folded_locked(overview, print_pools_locked, stream);
    } else {
        json_init(&json, stream);
        write_pools_locked(overview, &json, NULL);
        json_finish(&json);
    }
    lock_release(&overview->assembly->lock);
}

/* As print_folded_locked, one pool. */
static void print_pool_folded(const struct overview_pool *pool, FILE *stream)
{
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);

    if (!memory)
        return;
    print_pool(pool, memory);
    if (fclose(memory) == 0)
        columns_fold(text, stream);
    free(text);
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
            print_pool_folded(&pool, stream);
        } else {
            json_init(&json, stream);
            write_pool(&json, &pool, overview);
            json_finish(&json);
        }
    }
    lock_release(&overview->assembly->lock);
    return index != SETTINGS_NONE;
}
