/* SPDX-License-Identifier: MIT */
#include "config/reached.h"

#include <stdlib.h>
#include <string.h>

/* Pools of the top level, by their indexes. What leads to a member leads to the pool above it. */
struct reach {
    const struct checking *checking;
    bool *is_reached;
    uint32_t *waiting; /* reached, and what they lead to is not followed yet */
    uint32_t count;
};

static int reach_init(struct reach *reach, const struct checking *checking)
{
    size_t pools = checking->settings->pool_count + (size_t)1;

    *reach = (struct reach){ .checking = checking };
    reach->is_reached = calloc(pools, sizeof *reach->is_reached);
    reach->waiting = calloc(pools, sizeof *reach->waiting);
    return reach->is_reached && reach->waiting ? WEIR_OK : WEIR_ENOMEM;
}

static void reach_finish(struct reach *reach)
{
    free(reach->is_reached);
    free(reach->waiting);
}

static uint32_t top_of(const struct settings *settings, uint32_t pool)
{
    while (settings->pools[pool].parent != SETTINGS_NONE)
        pool = settings->pools[pool].parent;
    return pool;
}

/* SETTINGS_NONE is allowed. */
static void reach_pool(struct reach *reach, uint32_t pool)
{
    uint32_t top;

    if (pool == SETTINGS_NONE)
        return;
    top = top_of(reach->checking->settings, pool);
    if (reach->is_reached[top])
        return;
    reach->is_reached[top] = true;
    reach->waiting[reach->count++] = top;
}

/* Any text that is the path of a pool. The nesting has the limit of the language. */
static void reach_texts(struct reach *reach, const struct config_node *node)
{
    if (!node)
        return;
    if (node->kind == CONFIG_SCALAR && !node->null)
        reach_pool(reach, checking_find_pool(reach->checking, node->text));
    for (uint32_t i = 0; i < node->count; i++)
        reach_texts(reach, node->pairs[i].value);
}

/* What stands below a key of the user: pools that code names which is not in the file. */
static void reach_user_keys(struct reach *reach)
{
    const struct config_node *root = reach->checking->root;

    for (uint32_t i = 0; i < root->count; i++)
        if (strncmp(root->pairs[i].key->text, "x-", 2) == 0)
            reach_texts(reach, root->pairs[i].value);
}

/* --- messages --------------------------------------------------------------------------------- */

/* Events, takers and a manager find a pool without a word in the file. */
static bool is_found(const struct settings_pool *pool)
{
    return pool->subscribe.count || pool->core.lease.on || pool->manager.use;
}

static void find_fed(struct reach *reach)
{
    const struct settings *settings = reach->checking->settings;

    reach_user_keys(reach);
    reach_texts(reach, config_find(reach->checking->root, "sources"));
    for (uint32_t i = 0; i < settings->pool_count; i++)
        if (is_found(&settings->pools[i]))
            reach_pool(reach, i);
    while (reach->count)
        reach_texts(reach, reach->checking->pools[reach->waiting[--reach->count]].node);
}

/* --- requests --------------------------------------------------------------------------------- */

static void reach_asked_by_source(struct reach *reach, const struct settings_source *source)
{
    const struct weir_behaviour *behaviour = source->use.entry->behaviour;
    const struct weir_output *outputs = behaviour->outputs;

    if (behaviour->flags & WEIR_ASKING || (outputs && outputs[0].name && outputs[0].asks))
        reach_pool(reach, source->to);
}

static void reach_asked_by_pool(struct reach *reach, const struct settings_pool *pool)
{
    for (uint32_t i = 0; i < pool->output_count; i++)
        if (pool->use.entry->behaviour->outputs[i].asks)
            reach_pool(reach, pool->outputs[i].pool);
}

/* A worker may forward a request to where its outputs lead. The members follow their pool. */
static void follow_outputs(struct reach *reach, uint32_t top)
{
    const struct settings *settings = reach->checking->settings;
    uint32_t i = top;

    do {
        for (uint32_t output = 0; output < settings->pools[i].output_count; output++)
            reach_pool(reach, settings->pools[i].outputs[output].pool);
        i++;
    } while (i < settings->pool_count && settings->pools[i].parent != SETTINGS_NONE);
}

/* Without sources all messages come through the control socket, and each may be a request. */
static bool is_asked(const struct checking *checking, uint32_t index)
{
    const struct settings *settings = checking->settings;

    return checking->pools[index].is_asked || settings->pools[index].core.lease.on ||
           (settings->source_count == 0 && settings->host.control);
}

static void find_asked(struct reach *reach)
{
    const struct settings *settings = reach->checking->settings;

    reach_user_keys(reach);
    for (uint32_t i = 0; i < settings->source_count; i++)
        reach_asked_by_source(reach, &settings->sources[i]);
    for (uint32_t i = 0; i < settings->pool_count; i++) {
        if (is_asked(reach->checking, i))
            reach_pool(reach, i);
        reach_asked_by_pool(reach, &settings->pools[i]);
    }
    while (reach->count)
        follow_outputs(reach, reach->waiting[--reach->count]);
}

/* --- warnings --------------------------------------------------------------------------------- */

static void warn_unbound(struct checking *checking, uint32_t index)
{
    const struct settings_pool *pool = &checking->settings->pools[index];
    const struct checking_pool *place = &checking->pools[index];

    for (uint32_t i = 0; i < pool->output_count; i++) {
        const struct weir_output *row = &pool->use.entry->behaviour->outputs[i];

        if (row->expected && pool->outputs[i].pool == SETTINGS_NONE && !pool->outputs[i].drops)
            report_warn(checking->report, &place->mark, place->path,
                        "the output \"%s\" is not bound: what %s emits there is lost; write "
                        "`outputs: {%s: POOL}`, or `outputs: {%s: none}` if it is not wanted",
                        row->name, pool->use.use, row->name, row->name);
    }
}

static void warn_unreached(struct checking *checking, uint32_t index)
{
    const struct checking_pool *place = &checking->pools[index];

    report_warn(checking->report, &place->mark, place->path,
                "no source, output or option leads to this pool; if `weir send` or the code of a "
                "plugin does, write `x-reached: [%s]` at the top of the file",
                checking->settings->pools[index].path);
}

/* A file without sources gets its messages by `weir send`, to any pool. */
static void warn_all(struct checking *checking, const struct reach *fed, const struct reach *asked)
{
    const struct settings *settings = checking->settings;

    for (uint32_t i = 0; i < settings->pool_count; i++) {
        if (settings->source_count && settings->pools[i].parent == SETTINGS_NONE &&
            !fed->is_reached[i])
            warn_unreached(checking, i);
        if (!settings->pools[i].copy && !asked->is_reached[top_of(settings, i)])
            warn_unbound(checking, i);
    }
}

static int check_pools(struct checking *checking)
{
    struct reach fed;
    struct reach asked;
    int status = reach_init(&fed, checking);

    if (reach_init(&asked, checking) != WEIR_OK)
        status = WEIR_ENOMEM;
    if (status == WEIR_OK) {
        find_fed(&fed);
        find_asked(&asked);
        warn_all(checking, &fed, &asked);
    }
    reach_finish(&fed);
    reach_finish(&asked);
    return status;
}

int reached_check(struct checking *checking)
{
    const struct settings *settings = checking->settings;

    if (!checking->report || checking->wrong || report_count(checking->report))
        return WEIR_OK;
    if (settings->pool_count == 0 && settings->source_count == 0)
        report_warn(checking->report, &checking->root->mark, NULL,
                    "the file has no pools and no sources: a host would do nothing");
    return check_pools(checking);
}
