/* SPDX-License-Identifier: MIT */
#include "config/keyed.h"

#include <stdlib.h>

static bool is_keyed(const struct settings_pool *pool)
{
    return !pool->nested && pool->use.entry && pool->use.entry->behaviour->flags & WEIR_KEYED;
}

/* For each pool the first pool of such workers, itself or one below it; SETTINGS_NONE: there is
 * none. Pools come before their members. */
static void find_wants(const struct settings *settings, uint32_t *wants)
{
    for (uint32_t i = 0; i < settings->pool_count; i++)
        wants[i] = is_keyed(&settings->pools[i]) ? i : SETTINGS_NONE;
    for (uint32_t i = settings->pool_count; i-- > 0;) {
        uint32_t parent = settings->pools[i].parent;

        if (parent != SETTINGS_NONE && wants[i] != SETTINGS_NONE)
            wants[parent] = wants[i];
    }
}

/* True when all messages of a key take the same way. */
static bool keeps_keys(const struct settings_pool *pool)
{
    if (pool->core.route == WEIR_ROUTE_HASH)
        return true;
    return pool->nested && (pool->core.route == WEIR_ROUTE_BROADCAST || pool->member_count == 1);
}

static void refuse(struct checking *checking, const struct settings_pool *pool,
                   const struct settings_pool *want)
{
    if (pool == want)
        written_report(&pool->written, "route", checking->report,
                       "write `route: hash`: %s keeps a state for each key, so all messages of a "
                       "key must reach the same worker",
                       want->use.use);
    else
        written_report(&pool->written, "route", checking->report,
                       "must be hash or broadcast: %s in %s keeps a state for each key, so all "
                       "messages of a key must reach the same worker",
                       want->use.use, want->path);
    checking->wrong = true;
}

int keyed_check(struct checking *checking)
{
    const struct settings *settings = checking->settings;
    uint32_t *wants = calloc((size_t)settings->pool_count + 1, sizeof *wants);

    if (!wants)
        return WEIR_ENOMEM;
    find_wants(settings, wants);
    for (uint32_t i = 0; i < settings->pool_count; i++)
        if (wants[i] != SETTINGS_NONE && !settings->pools[i].copy &&
            !keeps_keys(&settings->pools[i]))
            refuse(checking, &settings->pools[i], &settings->pools[wants[i]]);
    free(wants);
    return WEIR_OK;
}
