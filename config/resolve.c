/* SPDX-License-Identifier: MIT */
#include "config/resolve.h"

#include <string.h>

#include "config/deferred_checks.h"

#define BLOCKING_NAME "blocking"
/* callbacks that may block at once; larger pools declare a dispatcher */
#define BLOCKING_THREADS 16u
#define BLOCKING_BUDGET 1u /* a worker that has blocked goes to the end of the queue */

/* --- the behaviour ---------------------------------------------------------------------------- */

static int find_behaviour(struct checking *checking, const struct resolve_place *place,
                          const struct config_node *node, const char *path,
                          const struct catalogue_entry **out_entry)
{
    struct catalogue_problem why = { "it is not known" };
    char text[96];

    if (node->kind != CONFIG_SCALAR || node->null) {
        report_add(place->report, &node->mark, path, "must be PLUGIN.BEHAVIOUR, got %s",
                   config_describe(node, text, sizeof text));
        return WEIR_EINVALID;
    }
    *out_entry = checking->catalogue->find(checking->catalogue->context, node->text, &why);
    if (*out_entry)
        return WEIR_OK;
    report_add(place->report, &node->mark, path, "%s", why.text);
    return WEIR_EINVALID;
}

static int check_role(const struct resolve_place *place, const struct config_node *node,
                      const char *path, const struct weir_behaviour *behaviour)
{
    if (place->role == RESOLVE_WORKER && !behaviour->handle) {
        report_add(place->report, &node->mark, path,
                   "%s produces messages, it belongs under sources", node->text);
        return WEIR_EINVALID;
    }
    if (place->role == RESOLVE_SOURCE && !behaviour->produce) {
        report_add(place->report, &node->mark, path, "%s handles messages, it belongs under pools",
                   node->text);
        return WEIR_EINVALID;
    }
    return WEIR_OK;
}

/* Resolves `key`, without options; does nothing when the key is absent. */
static int resolve_behaviour(struct checking *checking, const struct resolve_place *place,
                             const char *key, const char **out_use,
                             const struct catalogue_entry **out_entry)
{
    const struct config_node *node = config_find(place->node, key);
    const struct catalogue_entry *entry = NULL;
    const char *path = checking_text(checking, "%s.%s", place->path, key);
    int status;

    if (!node)
        return WEIR_OK;
    if (!path)
        return WEIR_ENOMEM;
    status = find_behaviour(checking, place, node, path, &entry);
    if (status == WEIR_OK)
        status = check_role(place, node, path, entry->behaviour);
    if (status != WEIR_OK)
        return status;
    *out_use = text_store_copy(&checking->settings->store, node->text);
    *out_entry = entry;
    return *out_use ? WEIR_OK : WEIR_ENOMEM;
}

/* --- its options ------------------------------------------------------------------------------ */

static int parse_args(struct checking *checking, const struct resolve_place *place,
                      const struct config_node *args, const struct option_place *where,
                      struct settings_use *use)
{
    const struct weir_behaviour *behaviour = use->entry->behaviour;
    struct catalogue_check call = { .entry = use->entry, .place = *where };
    struct option_value *values = NULL;
    int status = fill_values(args, &checking->scratch, &values, &call.count);

    if (status == WEIR_OK)
        status = options_parse(behaviour->options, behaviour->settings_size, values, call.count,
                               where, place->report, &use->options);
    call.values = values;
    call.options = use->options;
    return status == WEIR_OK ? deferred_checks_add(checking, &call) : status;
}

/* Reads `args_key`, the options of the behaviour of `use_key`. */
static int resolve_args(struct checking *checking, const struct resolve_place *place,
                        const char *use_key, const char *args_key, struct settings_use *use)
{
    const struct config_node *args = config_find(place->node, args_key);
    const struct config_node *name = config_find(place->node, use_key);
    struct option_place where = { checking_text(checking, "%s.%s", place->path, args_key),
                                  args ? args->mark : name->mark };
    struct fill fill = checking_fill(checking, place->report);

    if (!where.path)
        return WEIR_ENOMEM;
    if (fill_expect_map(&fill, args, where.path) != WEIR_OK)
        return WEIR_EINVALID;
    return parse_args(checking, place, args, &where, use);
}

/* --- its dispatcher --------------------------------------------------------------------------- */

/* The array has room for this dispatcher; see check.c. WEIR_ENOMEM. */
static int add_blocking(struct checking *checking, uint32_t *out_index)
{
    struct settings *settings = checking->settings;
    uint32_t beside = checking_find_dispatcher(checking, "default");
    struct settings_dispatcher *blocking = &settings->dispatchers[settings->dispatcher_count];
    const struct mark *mark = &settings->dispatchers[beside].written.mark;
    struct fill fill = checking_fill(checking, checking->report);

    if (fill_section(&fill, language_dispatcher, 0, NULL, mark, "", blocking) != WEIR_OK)
        return WEIR_ENOMEM;
    blocking->name = BLOCKING_NAME;
    blocking->threads = BLOCKING_THREADS;
    blocking->policy.budget = BLOCKING_BUDGET;
    blocking->written = (struct written){ .path = "dispatchers." BLOCKING_NAME, .mark = *mark };
    *out_index = settings->dispatcher_count++;
    return checking_index_dispatcher(checking, BLOCKING_NAME, *out_index);
}

/* WEIR_ENOMEM. */
static int default_dispatcher(struct checking *checking, bool blocking, uint32_t *out_index)
{

    *out_index = checking_find_dispatcher(checking, blocking ? BLOCKING_NAME : "default");
    return *out_index == SETTINGS_NONE && blocking ? add_blocking(checking, out_index) : WEIR_OK;
}

/* A worker waits while its process carries out a callback. */
static bool may_block(const struct resolve_place *place, const struct settings_use *use)
{
    return use->entry && (place->waits || use->entry->behaviour->flags & WEIR_BLOCKING);
}

static int unknown_dispatcher(const struct checking *checking, const struct resolve_place *place,
                              const struct config_node *node, const char *path)
{
    const struct settings *settings = checking->settings;
    struct text_guess guess;
    const char *best;

    text_guess_init(&guess, node->text);
    for (uint32_t i = 0; i < settings->dispatcher_count && !report_is_full(place->report); i++)
        text_guess_offer(&guess, settings->dispatchers[i].name);
    best = text_guess_best(&guess);
    report_add(place->report, &node->mark, path, "there is no dispatcher \"%.64s\"%s%s%s",
               node->text, best ? ", did you mean \"" : "", best ? best : "", best ? "\"?" : "");
    return WEIR_EINVALID;
}

static int named_dispatcher(struct checking *checking, const struct resolve_place *place,
                            const struct config_node *node, struct settings_use *use)
{
    const char *path = checking_text(checking, "%s.dispatcher", place->path);
    char text[96];

    if (!path)
        return WEIR_ENOMEM;
    if (node->kind != CONFIG_SCALAR || node->null) {
        report_add(place->report, &node->mark, path, "must be the name of a dispatcher, got %s",
                   config_describe(node, text, sizeof text));
        return WEIR_EINVALID;
    }
    use->dispatcher = checking_find_dispatcher(checking, node->text);
    if (use->dispatcher == SETTINGS_NONE)
        return unknown_dispatcher(checking, place, node, path);
    if (may_block(place, use) && strcmp(node->text, "default") == 0)
        report_warn(place->report, &node->mark, path,
                    "%s may block, and then holds up everything on the dispatcher default",
                    use->use);
    return WEIR_OK;
}

static int resolve_dispatcher(struct checking *checking, const struct resolve_place *place,
                              struct settings_use *use)
{
    const struct config_node *node = config_find(place->node, "dispatcher");

    if (node)
        return named_dispatcher(checking, place, node, use);
    return use->entry ? default_dispatcher(checking, may_block(place, use), &use->dispatcher)
                      : WEIR_OK;
}

int resolve_use(struct checking *checking, const struct resolve_place *place,
                struct settings_use *out)
{
    int result;
    int status;

    out->dispatcher = SETTINGS_NONE;
    result = resolve_behaviour(checking, place, "use", &out->use, &out->entry);
    if (result == WEIR_ENOMEM)
        return result;
    status = resolve_dispatcher(checking, place, out);
    if (status != WEIR_OK)
        result = status;
    if (out->entry && result != WEIR_ENOMEM) {
        status = resolve_args(checking, place, "use", "args", out);
        if (status != WEIR_OK)
            result = status;
    }
    return result;
}

static int refuse_args_alone(struct checking *checking, const struct resolve_place *place)
{
    const struct config_pair *args = config_find_pair(place->node, "manager_args");
    const char *path = checking_text(checking, "%s.manager_args", place->path);

    if (!args || config_find(place->node, "manager"))
        return WEIR_OK;
    if (!path)
        return WEIR_ENOMEM;
    report_add(place->report, &args->key->mark, path, "belongs to a `manager`, and there is none");
    return WEIR_EINVALID;
}

int resolve_manager(struct checking *checking, const struct resolve_place *place,
                    struct settings_use *out)
{
    int status = refuse_args_alone(checking, place);

    out->dispatcher = SETTINGS_NONE;
    if (status == WEIR_OK)
        status = resolve_behaviour(checking, place, "manager", &out->use, &out->entry);
    if (status != WEIR_OK || !out->entry)
        return status;
    return resolve_args(checking, place, "manager", "manager_args", out);
}
