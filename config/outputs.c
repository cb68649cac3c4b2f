/* SPDX-License-Identifier: MIT */
#include "config/outputs.h"

#include <assert.h>
#include <string.h>

#define PATH_SIZE 512 /* of a key's path in a message; a longer one is truncated */

/* --- targets ---------------------------------------------------------------------------------- */

static const char *nearest_pool(const struct checking *checking, const char *name,
                                struct report *report)
{
    const struct settings *settings = checking->settings;
    struct text_guess guess;

    text_guess_init(&guess, name);
    for (uint32_t i = 0; i < settings->pool_count && !report_is_full(report); i++) {
        text_guess_offer(&guess, settings->pools[i].path);
        /* A member's name alone means the member. */
        if (strcmp(settings->pools[i].name, name) == 0)
            return settings->pools[i].path;
    }
    return text_guess_best(&guess);
}

static int unknown_target(const struct checking *checking, const char *name,
                          const struct mark *mark, const char *path, struct report *report)
{
    const char *best = nearest_pool(checking, name, report);

    if (report_is_full(report)) /* a full report does not show the text */
        report_add(report, mark, path, "there is no pool \"%.100s\"", name);
    else if (config_find(config_find(checking->root, "sources"), name))
        report_add(report, mark, path, "\"%.64s\" is a source, not a pool", name);
    else
        report_add(report, mark, path, "there is no pool \"%.100s\"%s%s%s", name,
                   best ? ", did you mean \"" : "", best ? best : "", best ? "\"?" : "");
    return WEIR_EINVALID;
}

int outputs_find(const struct checking *checking, const char *name, const struct mark *mark,
                 const char *path, struct report *report, uint32_t *out_pool)
{
    uint32_t index = checking_find_pool(checking, name);

    if (index == SETTINGS_NONE)
        return unknown_target(checking, name, mark, path, report);
    *out_pool = index;
    return WEIR_OK;
}

int outputs_target(const struct checking *checking, const struct config_node *node,
                   const char *path, struct report *report, uint32_t *out_pool)
{
    char text[96];

    if (node->kind != CONFIG_SCALAR || node->null) {
        report_add(report, &node->mark, path, "must be the path of a pool, got %s",
                   config_describe(node, text, sizeof text));
        return WEIR_EINVALID;
    }
    return outputs_find(checking, node->text, &node->mark, path, report, out_pool);
}

/* --- outputs ---------------------------------------------------------------------------------- */

/* The outputs of one pool. */
struct binding {
    struct checking *checking;
    const struct checking_pool *place;
    struct settings_pool *pool;
    struct report *report;
};

static struct settings_output *find_output(const struct settings_pool *pool, const char *name)
{
    for (uint32_t i = 0; i < pool->output_count; i++) {
        if (strcmp(pool->outputs[i].name, name) == 0)
            return &pool->outputs[i];
    }
    return NULL;
}

/* `: it has "out" and "bad"`; the text of the check. */
static const char *names_of(const struct binding *binding, const struct settings_pool *pool)
{
    const char *text = pool->output_count ? ": it has" : ": it has none";

    for (uint32_t i = 0; i < pool->output_count && text; i++)
        text = checking_text(binding->checking, "%s%s \"%s\"", text, i ? "," : "",
                             pool->outputs[i].name);
    return text ? text : "";
}

static int unknown_output(const struct binding *binding, const struct config_node *key,
                          const char *path)
{
    const struct settings_pool *pool = binding->pool;
    struct text_guess guess;
    const char *best;

    text_guess_init(&guess, key->text);
    for (uint32_t i = 0; i < pool->output_count && !report_is_full(binding->report); i++)
        text_guess_offer(&guess, pool->outputs[i].name);
    best = text_guess_best(&guess);
    report_add(binding->report, &key->mark, path, "%s has no such output%s%s%s%s", pool->use.use,
               best ? ", did you mean \"" : "", best ? best : "", best ? "\"?" : "",
               best || report_is_full(binding->report) ? "" : names_of(binding, pool));
    return WEIR_EINVALID;
}

/* `none` is no pool, unless there is one of that name. */
static int bind_target(const struct binding *binding, const struct config_node *node,
                       const char *path, struct settings_output *output)
{
    output->drops = node->kind == CONFIG_SCALAR && !node->null && strcmp(node->text, "none") == 0 &&
                    checking_find_pool(binding->checking, node->text) == SETTINGS_NONE;
    return output->drops
               ? WEIR_OK
               : outputs_target(binding->checking, node, path, binding->report, &output->pool);
}

/* The long form, `{to: report, when_full: reject}`. */
static int bind_long(const struct binding *binding, const struct config_pair *pair,
                     const char *path, struct settings_output *output)
{
    struct fill fill = checking_fill(binding->checking, binding->report);
    const struct config_node *to = config_find(pair->value, "to");
    const char *inner = checking_text(binding->checking, "%s.to", path);
    int result = fill_section(&fill, language_output, 0, pair->value, &pair->key->mark, path,
                              output);
    int status = WEIR_OK;

    if (!inner)
        return WEIR_ENOMEM;
    if (to && result != WEIR_ENOMEM)
        status = bind_target(binding, to, inner, output);
    return status != WEIR_OK ? status : result;
}

static int bind_output(const struct binding *binding, const struct config_pair *pair)
{
    struct settings_output *output = find_output(binding->pool, pair->key->text);
    char path[PATH_SIZE];

    (void)snprintf(path, sizeof path, "%s.outputs.%s", binding->place->path, pair->key->text);
    if (!output)
        return unknown_output(binding, pair->key, path);
    if (pair->value->kind == CONFIG_MAP)
        return bind_long(binding, pair, path, output);
    return bind_target(binding, pair->value, path, output);
}

static int make_outputs(const struct binding *binding)
{
    struct settings_pool *pool = binding->pool;
    const struct weir_output *rows = pool->use.entry->behaviour->outputs;
    struct text_store *store = &binding->checking->settings->store;

    while (rows && rows[pool->output_count].name)
        pool->output_count++;
    pool->outputs = text_store_take_array(store, pool->output_count, sizeof *pool->outputs);
    if (!pool->outputs)
        return WEIR_ENOMEM;
    assert(rows || pool->output_count == 0);
    for (uint32_t i = 0; i < pool->output_count; i++) {
        pool->outputs[i].pool = SETTINGS_NONE;
        pool->outputs[i].name = text_store_copy(store, rows[i].name);
        if (!pool->outputs[i].name)
            return WEIR_ENOMEM;
    }
    return WEIR_OK;
}

static int check_required(const struct binding *binding, const struct config_node *outputs)
{
    const struct settings_pool *pool = binding->pool;
    const struct weir_output *rows = pool->use.entry->behaviour->outputs;
    const struct mark *mark = outputs ? &outputs->mark : &binding->place->mark;
    char path[PATH_SIZE];
    int result = WEIR_OK;

    for (uint32_t i = 0; i < pool->output_count; i++) {
        if (!rows[i].required || (config_find(outputs, rows[i].name) && !pool->outputs[i].drops))
            continue;
        (void)snprintf(path, sizeof path, "%s.outputs.%s", binding->place->path, rows[i].name);
        report_add(binding->report, mark, path, "is required by %s: bind it to a pool",
                   pool->use.use);
        result = WEIR_EINVALID;
    }
    return result;
}

static int bind_pool(const struct binding *binding)
{
    const struct config_node *outputs = config_find(binding->place->node, "outputs");
    struct fill fill = checking_fill(binding->checking, binding->report);
    char path[PATH_SIZE];
    int result;

    if (make_outputs(binding) != WEIR_OK)
        return WEIR_ENOMEM;
    (void)snprintf(path, sizeof path, "%s.outputs", binding->place->path);
    result = fill_expect_map(&fill, outputs, path);
    if (result != WEIR_OK)
        return result;
    for (uint32_t i = 0; outputs && i < outputs->count && result != WEIR_ENOMEM &&
                         !report_has_enough(binding->report);
         i++) {
        int status = bind_output(binding, &outputs->pairs[i]);

        if (status != WEIR_OK)
            result = status;
    }
    if (result != WEIR_ENOMEM && check_required(binding, outputs) != WEIR_OK)
        result = WEIR_EINVALID;
    return result;
}

/* In the settings a copy follows the first copy of its template. */
static void share_outputs(struct checking *checking, uint32_t copy)
{
    struct settings_pool *pools = checking->settings->pools;
    const struct settings_pool *first = &pools[checking->pools[copy].first];

    pools[copy].outputs = first->outputs;
    pools[copy].output_count = first->output_count;
}

int outputs_bind(struct checking *checking)
{
    int status = WEIR_OK;

    for (uint32_t i = 0; i < checking->settings->pool_count && checking_goes_on(checking, status);
         i++) {
        struct settings_pool *pool = &checking->settings->pools[i];
        struct binding binding = { checking, &checking->pools[i], pool, checking->report };

        if (pool->copy)
            share_outputs(checking, i);
        else if (pool->use.entry)
            status = checking_note(checking, bind_pool(&binding));
    }
    return status;
}
