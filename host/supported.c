#include "host/supported.h"

#include <stdio.h>
#include <string.h>

#include "actor/events.h"

#define PATH_SIZE 256 /* a pool's path is at most 100 bytes */

/* A map of the file and its path, for what is refused in it. */
struct part {
    const struct config_node *map; /* NULL: not found, told without a place */
    const char *section;
    const char *name; /* NULL: the section itself */
    struct report *report;
};

/* Refuses `key` of the part, or `inner` in it when that is given. */
static void refuse(const struct part *part, const char *key, const char *inner)
{
    const struct config_node *node = config_find(part->map, key);
    const struct config_node *deeper = inner ? config_find(node, inner) : NULL;
    char path[PATH_SIZE];

    (void)snprintf(path, sizeof path, "%s%s%s.%s%s%s", part->section, part->name ? "." : "",
                   part->name ? part->name : "", key, inner ? "." : "", inner ? inner : "");
    node = deeper ? deeper : node ? node : part->map;
    report_add(part->report, node ? &node->mark : NULL, path,
               "what it asks for is not available in this version");
}

/* The value of the first `length` bytes of `name` in a map. */
static const struct config_node *find_part(const struct config_node *map, const char *name,
                                           size_t length)
{
    char key[PATH_SIZE];

    (void)snprintf(key, sizeof key, "%.*s", (int)length, name);
    return config_find(map, key);
}

/* The map of a pool: below `members` by its name, below `pool` when it is a copy of a template. */
static const struct config_node *find_pool(const struct config_tree *tree, const char *path)
{
    const struct config_node *names = config_find(tree->root, "pools");
    const struct config_node *pool = NULL;

    while (names && *path) {
        size_t length = strcspn(path, "/");
        const struct config_node *member = find_part(names, path, length);

        pool = member ? member : config_find(pool, "pool");
        names = config_find(pool, "members");
        if (!names)
            names = pool;
        path += length + (path[length] == '/');
    }
    return pool;
}

/* The names of events are those that a plugin may give one. */
static void check_events(const struct part *part, const struct settings_pool *pool)
{
    const struct config_node *node = config_find(part->map, "subscribe");
    char path[PATH_SIZE];

    (void)snprintf(path, sizeof path, "%s.%s.subscribe", part->section, pool->path);
    for (size_t i = 0; i < pool->subscribe.count; i++) {
        size_t length = strlen(pool->subscribe.items[i]);

        if (length == 0 || length > EVENTS_NAME_MAX)
            report_add(part->report, node ? &node->mark : NULL, path,
                       "the name of an event has 1 to %d bytes, got %zu", EVENTS_NAME_MAX, length);
    }
}

static void check_pool(const struct config_tree *tree, const struct settings_pool *pool,
                       struct report *report)
{
    struct part part = { find_pool(tree, pool->path), "pools", pool->path, report };

    if (pool->copy)
        return; /* told at the first one */
    check_events(&part, pool);
}

static void check_source(const struct config_tree *tree, const struct settings_source *source,
                         struct report *report)
{
    const struct config_node *sources = config_find(tree->root, "sources");
    struct part part = { config_find(sources, source->name), "sources", source->name, report };

    if (source->when_full != SETTINGS_WAIT)
        refuse(&part, "to", "when_full");
}

int supported_check(const struct config_tree *tree, const struct settings *settings,
                    struct report *report)
{
    size_t before = report_count(report);

    for (uint32_t i = 0; i < settings->source_count; i++)
        check_source(tree, &settings->sources[i], report);
    for (uint32_t i = 0; i < settings->pool_count; i++)
        check_pool(tree, &settings->pools[i], report);
    return report_count(report) == before ? 0 : WEIR_EUNSUPPORTED;
}
