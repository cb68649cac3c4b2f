/* SPDX-License-Identifier: MIT */
#include "config/settings.h"

#include <stdlib.h>
#include <string.h>

void settings_destroy(struct settings *settings)
{
    if (!settings)
        return;
    for (uint32_t i = 0; i < settings->pool_count; i++) {
        if (settings->pools[i].copy)
            continue; /* the first copy owns them */
        options_destroy(settings->pools[i].use.options);
        options_destroy(settings->pools[i].manager.options);
    }
    for (uint32_t i = 0; i < settings->source_count; i++)
        options_destroy(settings->sources[i].use.options);
    free(settings->pools);
    text_store_finish(&settings->store);
    free(settings);
}

uint32_t settings_find_pool(const struct settings *settings, const char *path)
{
    for (uint32_t i = 0; i < settings->pool_count; i++) {
        if (strcmp(settings->pools[i].path, path) == 0)
            return i;
    }
    return SETTINGS_NONE;
}

uint32_t settings_find_source(const struct settings *settings, const char *name)
{
    for (uint32_t i = 0; i < settings->source_count; i++) {
        if (strcmp(settings->sources[i].name, name) == 0)
            return i;
    }
    return SETTINGS_NONE;
}

uint32_t settings_find_dispatcher(const struct settings *settings, const char *name)
{
    for (uint32_t i = 0; i < settings->dispatcher_count; i++) {
        if (strcmp(settings->dispatchers[i].name, name) == 0)
            return i;
    }
    return SETTINGS_NONE;
}

bool settings_has_fixed_size(const struct settings_pool *pool)
{
    return pool->core.size_min == pool->core.size_max;
}

const char *settings_use_state(const struct settings_use *use)
{
    const struct weir_option *row = use->options ? use->entry->behaviour->options : NULL;
    const char *file;

    for (; row && row->name; row++) {
        if (!row->state)
            continue;
        memcpy(&file, (const char *)options_settings(use->options) + row->offset, sizeof file);
        if (file && *file)
            return row->name;
    }
    return NULL;
}

uint32_t settings_size_after(const struct settings_pool *pool, uint32_t now)
{
    if (settings_has_fixed_size(pool))
        return pool->size;
    if (now < pool->core.size_min)
        return pool->core.size_min;
    return now > pool->core.size_max ? pool->core.size_max : now;
}

uint64_t settings_worker_count(const struct settings *settings)
{
    uint64_t count = 0;

    for (uint32_t i = 0; i < settings->pool_count; i++)
        count += settings->pools[i].nested ? 0 : settings->pools[i].size;
    return count;
}
