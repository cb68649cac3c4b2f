/* SPDX-License-Identifier: MIT */
#include "config/feeds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_SIZE 512 /* of a key's path in a message; a longer one is truncated */

/* The way of a source's messages through a pool. Zeros of the first three: a worker gets each
 * message without a key. */
struct feed_way {
    const struct settings_pool *hash; /* this pool or one below it, which refuses such messages */
    uint32_t refusing;                /* of its members */
    bool is_refused;                  /* the pool accepts none of them */
    /* Likewise for messages with an origin: broadcast refuses them. */
    const struct settings_pool *broadcast;
    uint32_t refusing_origins;
    bool refuses_origins;
    bool has_workers; /* here or below, at the start or by a law */
};

static bool refuses(const struct settings_pool *pool, const struct feed_way *way)
{
    if (pool->core.route == WEIR_ROUTE_HASH)
        return true;
    if (pool->core.route == WEIR_ROUTE_BROADCAST)
        return way->refusing > 0; /* all of its members, or none */
    return way->refusing > 0 && way->refusing == pool->member_count;
}

static bool refuses_origins(const struct settings_pool *pool, const struct feed_way *way)
{
    return pool->core.route == WEIR_ROUTE_BROADCAST ||
           (way->refusing_origins > 0 && way->refusing_origins == pool->member_count);
}

/* Pools come before their members, so the loop begins with the last. */
static void find_ways(const struct settings *settings, struct feed_way *ways)
{
    for (uint32_t i = settings->pool_count; i-- > 0;) {
        const struct settings_pool *pool = &settings->pools[i];
        struct feed_way *above;

        ways[i].is_refused = refuses(pool, &ways[i]);
        if (pool->core.route == WEIR_ROUTE_HASH)
            ways[i].hash = pool;
        ways[i].refuses_origins = refuses_origins(pool, &ways[i]);
        if (pool->core.route == WEIR_ROUTE_BROADCAST)
            ways[i].broadcast = pool;
        ways[i].has_workers |= !pool->nested && (pool->size > 0 || pool->core.scale.on);
        if (pool->parent == SETTINGS_NONE)
            continue;
        above = &ways[pool->parent];
        above->refusing += ways[i].is_refused;
        if (ways[i].hash)
            above->hash = ways[i].hash;
        above->refusing_origins += ways[i].refuses_origins;
        if (ways[i].broadcast)
            above->broadcast = ways[i].broadcast;
        above->has_workers |= ways[i].has_workers;
    }
}

/* True for a source with the flag WEIR_KEYLESS, unless its option `key` is true. False when the
 * options are wrong. */
static bool is_keyless(const struct settings_source *source)
{
    const struct settings_use *use = &source->use;
    const char *key;

    if (!use->entry || !use->options || !(use->entry->behaviour->flags & WEIR_KEYLESS))
        return false;
    key = options_text(use->options, "key");
    return !key || strcmp(key, "true") != 0;
}

static void check_keys(struct checking *checking, const struct settings_source *source,
                       const struct feed_way *way, const struct mark *mark, const char *path)
{
    const char *use = source->use.use;

    if (way->is_refused) {
        report_add(checking->report, mark, path,
                   "%s routes by hash, but %s sets no key: each message would be refused; give "
                   "the pool another route%s",
                   way->hash->path, use,
                   options_text(source->use.options, "key") ? ", or the source `key: true`" : "");
        checking->wrong = true;
    } else if (way->hash) {
        report_warn(checking->report, mark, path,
                    "%s routes by hash, but %s sets no key: that pool gets no message of this "
                    "source",
                    way->hash->path, use);
    }
}

/* A source with a state is the origin of its messages. */
static const char *find_position(const struct settings_source *source)
{
    const char *state = settings_use_state(&source->use);

    return state && source->use.entry->behaviour->settled ? state : NULL;
}

/* A dead message is done for its position only when its dead letter is on the disk. A source with
 * another state, such as queue.take, keeps its dead itself. */
static void check_dead_letters(struct checking *checking, const struct settings_source *source,
                               const struct mark *mark)
{
    const char *position = find_position(source);
    char path[PATH_SIZE];

    if (!position || strcmp(position, "position") != 0 ||
        checking->settings->host.dead_letters.file)
        return;
    (void)snprintf(path, sizeof path, "sources.%s.args.position", source->name);
    report_warn(checking->report, mark, path,
                "never passes a message that is dead, since no file keeps dead letters: after a "
                "restart that message and all behind it come again; set `host.dead_letters.file`");
}

static bool has_origin_value(const struct weir_option *row, const void *settings)
{
    const char *field = (const char *)settings + row->offset;
    uint32_t value;

    if (row->kind == WEIR_BOOL)
        return row->origins == (*(const bool *)field ? 2u : 1u);
    memcpy(&value, field, sizeof value);
    return row->kind == WEIR_ENUM && row->origins == 1u + value;
}

/* The option whose value gives each message an origin. NULL: none. */
static const char *find_origin_option(const struct settings_source *source)
{
    const struct settings_use *use = &source->use;
    const struct weir_option *row = use->options ? use->entry->behaviour->options : NULL;

    for (; row && row->name; row++)
        if (row->origins && has_origin_value(row, options_settings(use->options)))
            return row->name;
    return NULL;
}

/* Whether each message of the source has an origin. `out_remedy`: what makes it have none; "" =
 * nothing. */
static bool has_origins(const struct settings_source *source, char *out_remedy, size_t size)
{
    const char *position = find_position(source), *option = find_origin_option(source);

    out_remedy[0] = '\0';
    if (source->use.entry && source->use.entry->behaviour->flags & WEIR_ORIGINS)
        return true;
    if (position)
        (void)snprintf(out_remedy, size, ", or leave `%s` out", position);
    else if (option)
        (void)snprintf(out_remedy, size, ", or give `%s` another value", option);
    return position || option;
}

/* A message with an origin has one outcome, so no pool gives it to several workers. */
static void check_origin(struct checking *checking, const struct settings_source *source,
                         const struct feed_way *way, const struct mark *mark, const char *path)
{
    char remedy[PATH_SIZE];

    if (!way->refuses_origins || !has_origins(source, remedy, sizeof remedy))
        return;
    report_add(checking->report, mark, path,
               "%s routes by broadcast, and %s waits for one outcome of each message: each message "
               "would be refused; put a pool of one worker between the two%s",
               way->broadcast->path, source->name, remedy);
    checking->wrong = true;
}

static void check_feed(struct checking *checking, const struct settings_source *source,
                       const struct feed_way *ways)
{
    const struct settings_pool *pool = &checking->settings->pools[source->to];
    const struct mark *mark = written_mark(&source->written, "to");
    char path[PATH_SIZE];

    (void)snprintf(path, sizeof path, "sources.%s.to", source->name);
    if (!ways[source->to].has_workers)
        report_warn(checking->report, mark, path,
                    "%s begins without workers: the source waits until %s is scaled", pool->path,
                    pool->nested ? "a pool below it" : "it");
    check_origin(checking, source, &ways[source->to], mark, path);
    check_dead_letters(checking, source, mark);
    if (is_keyless(source))
        check_keys(checking, source, &ways[source->to], mark, path);
}

int feeds_check(struct checking *checking)
{
    const struct settings *settings = checking->settings;
    struct feed_way *ways = calloc(settings->pool_count + 1, sizeof *ways);

    if (!ways)
        return WEIR_ENOMEM;
    find_ways(settings, ways);
    for (uint32_t i = 0; i < settings->source_count; i++)
        if (settings->sources[i].to < settings->pool_count)
            check_feed(checking, &settings->sources[i], ways);
    free(ways);
    return WEIR_OK;
}
