/* SPDX-License-Identifier: MIT */
#include "config/named_pools.h"

#include <string.h>

#include "config/outputs.h"

/* The text of an option; NULL: it is not set. */
static const char *value_of(const struct settings_use *use, const struct weir_option *row)
{
    const char *text = NULL;

    memcpy(&text, (const char *)options_settings(use->options) + row->offset, sizeof text);
    return text;
}

/* Where the args of a behaviour stand: the section, the name in it, and the key. */
struct place {
    const char *section;
    const char *owner;
    const char *key;
};

/* `path` is where the name stands; NULL: memory is out. */
static int check_name(struct checking *checking, const char *name, const struct mark *mark,
                      const char *path)
{
    uint32_t pool = 0;
    int status = path ? outputs_find(checking, name, mark, path, checking->report, &pool)
                      : WEIR_ENOMEM;

    if (status == WEIR_OK)
        checking->pools[pool].is_asked = true;
    return checking_note(checking, status);
}

static int check_option(struct checking *checking, const struct settings_use *use,
                        const struct weir_option *row, const struct place *place)
{
    const char *name = value_of(use, row);
    const struct mark mark = options_mark(use->options, row->name);

    if (!name)
        return WEIR_OK;
    return check_name(
        checking, name, &mark,
        checking_text(checking, "%s%s.%s.%s", place->section, place->owner, place->key, row->name));
}

/* The position of a mistake is that of the map; its path has the key. */
static int check_map(struct checking *checking, const struct settings_use *use,
                     const struct weir_option *row, const struct place *place)
{
    const struct mark mark = options_mark(use->options, row->name);
    struct weir_map map;
    int status = WEIR_OK;

    memcpy(&map, (const char *)options_settings(use->options) + row->offset, sizeof map);
    for (size_t i = 0; i < map.count && status == WEIR_OK; i++)
        status = check_name(checking, map.items[i].value, &mark,
                            checking_text(checking, "%s%s.%s.%s.%s", place->section, place->owner,
                                          place->key, row->name, map.items[i].key));
    return status;
}

/* A behaviour whose options are wrong has no options here. */
static int check_use(struct checking *checking, const struct settings_use *use,
                     const struct place *place)
{
    const struct weir_option *row = use->options ? use->entry->behaviour->options : NULL;
    int status = WEIR_OK;

    for (; row && row->name && status == WEIR_OK; row++) {
        if (row->kind == WEIR_POOL)
            status = check_option(checking, use, row, place);
        else if (row->kind == WEIR_MAP && row->pools)
            status = check_map(checking, use, row, place);
    }
    return status;
}

static int check_source(struct checking *checking, const struct settings_source *source)
{
    return check_use(checking, &source->use, &(struct place){ "sources.", source->name, "args" });
}

static int check_pool(struct checking *checking, uint32_t index)
{
    const struct settings_pool *pool = &checking->settings->pools[index];
    const char *path = checking->pools[index].path;
    int status;

    if (pool->copy)
        return WEIR_OK;
    status = check_use(checking, &pool->use, &(struct place){ "", path, "args" });
    if (status != WEIR_OK)
        return status;
    return check_use(checking, &pool->manager, &(struct place){ "", path, "manager_args" });
}

int named_pools_check(struct checking *checking)
{
    const struct settings *settings = checking->settings;
    int status = WEIR_OK;

    for (uint32_t i = 0; i < settings->source_count && checking_goes_on(checking, status); i++)
        status = check_source(checking, &settings->sources[i]);
    for (uint32_t i = 0; i < settings->pool_count && checking_goes_on(checking, status); i++)
        status = check_pool(checking, i);
    return status;
}
