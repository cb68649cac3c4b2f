/* SPDX-License-Identifier: MIT */
#include "host/log/log_levels.h"

#include <stdlib.h>
#include <string.h>

struct pool_level {
    const char *path;
    int level;
};

struct log_levels {
    uint32_t count;
    int most;
    struct pool_level *pools; /* sorted by path */
    struct text_store store;  /* holds them and their paths */
};

static int compare(const void *left, const void *right)
{
    return strcmp(((const struct pool_level *)left)->path,
                  ((const struct pool_level *)right)->path);
}

/* A pool comes after its parent, so the parent's level is known. */
static uint32_t level_of(const struct settings *settings, uint32_t index)
{
    while (settings->pools[index].log_level == SETTINGS_LEVEL_HOST &&
           settings->pools[index].parent != SETTINGS_NONE)
        index = settings->pools[index].parent;
    return settings->pools[index].log_level;
}

static int fill(struct log_levels *levels, const struct settings *settings)
{
    for (uint32_t i = 0; i < settings->pool_count; i++) {
        uint32_t level = level_of(settings, i);
        struct pool_level *pool = &levels->pools[levels->count];

        if (level == SETTINGS_LEVEL_HOST)
            continue;
        *pool = (struct pool_level){ text_store_copy(&levels->store, settings->pools[i].path),
                                     (int)level };
        if (!pool->path)
            return WEIR_ENOMEM;
        levels->count++;
        if (pool->level > levels->most)
            levels->most = pool->level;
    }
    qsort(levels->pools, levels->count, sizeof *levels->pools, compare);
    return WEIR_OK;
}

int log_levels_create(const struct settings *settings, struct log_levels **out)
{
    struct log_levels *levels = calloc(1, sizeof *levels);
    int status = WEIR_ENOMEM;

    if (!levels)
        return status;
    text_store_init(&levels->store);
    levels->pools = text_store_take_array(&levels->store, settings->pool_count,
                                          sizeof *levels->pools);
    if (levels->pools)
        status = fill(levels, settings);
    *out = levels;
    if (status != WEIR_OK || levels->count == 0) {
        log_levels_destroy(levels);
        *out = NULL;
    }
    return status;
}

void log_levels_destroy(struct log_levels *levels)
{
    if (!levels)
        return;
    text_store_finish(&levels->store);
    free(levels);
}

/* A component, and the length of the pool's path in it. */
struct sought {
    const char *component;
    size_t length;
};

static int compare_sought(const void *left, const void *right)
{
    const struct sought *sought = left;
    const char *path = ((const struct pool_level *)right)->path;
    int order = strncmp(sought->component, path, sought->length);

    if (order == 0 && path[sought->length] != '\0')
        order = -1;
    return order;
}

static const struct pool_level *find(const struct log_levels *levels, const char *component,
                                     size_t length)
{
    struct sought sought = { component, length };

    return bsearch(&sought, levels->pools, levels->count, sizeof *levels->pools, compare_sought);
}

int log_levels_find(const struct log_levels *levels, const char *component, int otherwise)
{
    size_t length = component ? strcspn(component, "#") : 0;
    const struct pool_level *found = length ? find(levels, component, length) : NULL;

    return found ? found->level : otherwise;
}

int log_levels_most(const struct log_levels *levels)
{
    return levels->most;
}
