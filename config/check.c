/* SPDX-License-Identifier: MIT */
#include "config/check.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpus.h"
#include "config/deferred_checks.h"
#include "config/feeds.h"
#include "config/graph.h"
#include "config/keyed.h"
#include "config/meetings.h"
#include "config/named_pools.h"
#include "config/outputs.h"
#include "config/pools.h"
#include "config/quarantine.h"
#include "config/reached.h"
#include "config/resolve.h"
#include "config/state_files.h"

#define PATH_SIZE 512  /* of a key's path in a message; a longer one is truncated */
#define CYCLE_SIZE 400 /* a cycle as text; a longer one is truncated */

struct fill checking_fill(struct checking *checking, struct report *report)
{
    return (struct fill){ &checking->settings->store, report };
}

int checking_note(struct checking *checking, int status)
{
    if (status == WEIR_OK || status == WEIR_ENOMEM)
        return status;
    checking->wrong = true;
    return WEIR_OK;
}

bool checking_goes_on(const struct checking *checking, int status)
{
    return status == WEIR_OK && !report_has_enough(checking->report);
}

int checking_written(struct checking *checking, const char *path, const struct mark *mark,
                     const struct config_node *map, struct written *out)
{
    return written_note(&checking->settings->store, &checking->file, path, mark, map, out);
}

/* --- names ------------------------------------------------------------------------------------ */

static int put_index(struct checking *checking, const void *owner, const char *name, uint32_t index)
{
    uint32_t *value = text_store_take(&checking->scratch, sizeof *value);

    if (!value)
        return WEIR_ENOMEM;
    *value = index;
    return key_index_put(&checking->names, owner, name, value);
}

static uint32_t find_index(const struct checking *checking, const void *owner, const char *name)
{
    const uint32_t *index = key_index_find(&checking->names, owner, name);

    return index ? *index : SETTINGS_NONE;
}

int checking_index_dispatcher(struct checking *checking, const char *name, uint32_t index)
{
    return put_index(checking, &checking->settings->dispatchers, name, index);
}

uint32_t checking_find_dispatcher(const struct checking *checking, const char *name)
{
    return find_index(checking, &checking->settings->dispatchers, name);
}

int checking_index_pool(struct checking *checking, const char *path, uint32_t index)
{
    return put_index(checking, &checking->settings->pools, path, index);
}

uint32_t checking_find_pool(const struct checking *checking, const char *path)
{
    return find_index(checking, &checking->settings->pools, path);
}

int checking_index_template(struct checking *checking, const struct config_node *node,
                            uint32_t index)
{
    return put_index(checking, node, "", index);
}

uint32_t checking_find_template(const struct checking *checking, const struct config_node *node)
{
    return find_index(checking, node, "");
}

/* --- top and host ----------------------------------------------------------------------------- */

static void check_version(struct checking *checking)
{
    const struct config_node *node = config_find(checking->root, "version");
    char text[96];

    if (!node || (node->kind == CONFIG_SCALAR && strcmp(node->text, "1") == 0))
        return;
    report_add(checking->report, &node->mark, "version",
               "this host reads version 1 of the language, got %s",
               config_describe(node, text, sizeof text));
    checking->wrong = true;
}

/* A host that is not in the file gets the position of the file's start. */
static int note_host(struct checking *checking)
{
    const struct config_pair *pair = config_find_pair(checking->root, "host");

    return checking_written(checking, "host", pair ? &pair->key->mark : &checking->root->mark,
                            pair ? pair->value : NULL, &checking->settings->host.written);
}

static int read_top(struct checking *checking)
{
    struct fill fill = checking_fill(checking, checking->report);

    check_version(checking);
    if (note_host(checking) != WEIR_OK)
        return WEIR_ENOMEM;
    return checking_note(checking,
                         fill_section(&fill, language_top, 0, checking->root, &checking->root->mark,
                                      "", &checking->settings->host));
}

/* --- dispatchers ------------------------------------------------------------------------------ */

static const struct config_node *section(const struct checking *checking, const char *name)
{
    const struct config_node *node = config_find(checking->root, name);

    return node && node->kind == CONFIG_MAP ? node : NULL;
}

static int read_threads(struct checking *checking, const struct config_node *node, const char *path,
                        struct settings_dispatcher *out)
{
    const struct language_row *row = language_find(language_dispatcher, "threads");
    uint64_t threads = 0;
    char text[96];

    out->threads_auto = !node || (node->kind == CONFIG_SCALAR && strcmp(node->text, "auto") == 0);
    out->threads = cpus_threads(checking->cpus);
    if (out->threads_auto)
        return WEIR_OK;
    if (node->kind == CONFIG_SCALAR && text_parse_u64(node->text, &threads) == TEXT_OK &&
        threads >= (uint64_t)row->option.min && threads <= (uint64_t)row->option.max) {
        out->threads = (uint32_t)threads;
        return WEIR_OK;
    }
    report_add(checking->report, &node->mark, path, "must be auto or %lld..%lld, got %s",
               (long long)row->option.min, (long long)row->option.max,
               config_describe(node, text, sizeof text));
    return WEIR_EINVALID;
}

static int read_dispatcher(struct checking *checking, const struct config_pair *pair)
{
    struct settings *settings = checking->settings;
    struct settings_dispatcher *out = &settings->dispatchers[settings->dispatcher_count];
    struct fill fill = checking_fill(checking, checking->report);
    char path[PATH_SIZE];
    int status;

    (void)snprintf(path, sizeof path, "dispatchers.%s", pair->key->text);
    status = fill_check_name(&fill, pair->key, path);
    if (status != WEIR_OK)
        return status;
    out->name = text_store_copy(&settings->store, pair->key->text);
    if (!out->name ||
        checking_written(checking, path, &pair->key->mark, pair->value, &out->written) != WEIR_OK ||
        checking_index_dispatcher(checking, out->name, settings->dispatcher_count) != WEIR_OK)
        return WEIR_ENOMEM;
    settings->dispatcher_count++;
    status = fill_section(&fill, language_dispatcher, 0, pair->value, &pair->key->mark, path, out);
    if (status == WEIR_ENOMEM)
        return status;
    (void)snprintf(path, sizeof path, "dispatchers.%s.threads", pair->key->text);
    return read_threads(checking, config_find(pair->value, "threads"), path, out) == WEIR_OK
               ? status
               : WEIR_EINVALID;
}

/* Adds `default`, as the first dispatcher, when the file does not name it. */
static int add_default_dispatcher(struct checking *checking, const struct config_node *map)
{
    struct settings *settings = checking->settings;
    struct settings_dispatcher *out = &settings->dispatchers[0];
    struct fill fill = checking_fill(checking, checking->report);
    int status;

    if (config_find(map, "default"))
        return WEIR_OK;
    if (checking_written(checking, "dispatchers.default", map ? &map->mark : &checking->root->mark,
                         NULL, &out->written) != WEIR_OK)
        return WEIR_ENOMEM;
    status = fill_section(&fill, language_dispatcher, 0, NULL, &checking->root->mark, "", out);
    out->name = "default";
    settings->dispatcher_count = 1;
    if (status == WEIR_OK)
        status = checking_index_dispatcher(checking, out->name, 0);
    return status == WEIR_OK ? read_threads(checking, NULL, "", out) : status;
}

static int read_dispatchers(struct checking *checking)
{
    struct settings *settings = checking->settings;
    struct fill fill = checking_fill(checking, checking->report);
    const struct config_node *map = section(checking, "dispatchers");
    size_t room = (map ? map->count : 0) + (size_t)2; /* plus `default` and `blocking` */
    int status = fill_expect_map(&fill, config_find(checking->root, "dispatchers"), "dispatchers");

    (void)checking_note(checking, status);
    settings->dispatchers = text_store_take_array(&settings->store, room,
                                                  sizeof *settings->dispatchers);
    if (!settings->dispatchers)
        return WEIR_ENOMEM;
    status = add_default_dispatcher(checking, map);
    for (uint32_t i = 0; map && i < map->count && checking_goes_on(checking, status); i++)
        status = checking_note(checking, read_dispatcher(checking, &map->pairs[i]));
    return status;
}

/* --- sources ---------------------------------------------------------------------------------- */

static int read_target(struct checking *checking, const struct config_node *source,
                       const char *path, struct settings_source *out)
{
    const struct config_node *to = config_find(source, "to");
    const char *inner = checking_text(checking, "%s.to", path);

    if (!inner)
        return WEIR_ENOMEM;
    return to ? outputs_target(checking, to, inner, checking->report, &out->to) : WEIR_OK;
}

static int read_source_keys(struct checking *checking, const struct config_pair *pair,
                            const char *path, struct settings_source *out)
{
    struct resolve_place place = { pair->value, path, RESOLVE_SOURCE, checking->report, false };
    struct fill fill = checking_fill(checking, checking->report);
    int status = checking_note(checking, fill_section(&fill, language_source, 0, pair->value,
                                                      &pair->key->mark, path, out));

    if (status == WEIR_OK)
        status = checking_note(checking, resolve_use(checking, &place, &out->use));
    if (status == WEIR_OK)
        status = checking_note(checking, read_target(checking, pair->value, path, out));
    return status;
}

static int read_source(struct checking *checking, const struct config_pair *pair)
{
    struct settings *settings = checking->settings;
    struct settings_source *out = &settings->sources[settings->source_count];
    struct fill fill = checking_fill(checking, checking->report);
    char path[PATH_SIZE];
    int status;

    (void)snprintf(path, sizeof path, "sources.%s", pair->key->text);
    status = fill_check_name(&fill, pair->key, path);
    if (status == WEIR_OK)
        status = fill_expect_map(&fill, pair->value, path);
    if (status != WEIR_OK)
        return checking_note(checking, status);
    out->to = SETTINGS_NONE;
    out->name = text_store_copy(&settings->store, pair->key->text);
    if (!out->name ||
        checking_written(checking, path, &pair->key->mark, pair->value, &out->written) != WEIR_OK)
        return WEIR_ENOMEM;
    settings->source_count++;
    return read_source_keys(checking, pair, path, out);
}

static int read_sources(struct checking *checking)
{
    struct settings *settings = checking->settings;
    struct fill fill = checking_fill(checking, checking->report);
    const struct config_node *map = section(checking, "sources");
    int status = fill_expect_map(&fill, config_find(checking->root, "sources"), "sources");

    (void)checking_note(checking, status);
    settings->sources = text_store_take_array(&settings->store, map ? map->count : 0,
                                              sizeof *settings->sources);
    if (!settings->sources)
        return WEIR_ENOMEM;
    status = WEIR_OK;
    for (uint32_t i = 0; map && i < map->count && checking_goes_on(checking, status); i++)
        status = read_source(checking, &map->pairs[i]);
    return status;
}

/* --- what holds between them ------------------------------------------------------------------ */

/* `a -> b -> a` */
static void format_cycle(const struct settings *settings, const struct graph_step *steps,
                         uint32_t count, char *text, size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    for (uint32_t i = 0; i < count && used < size; i++) {
        int length = snprintf(text + used, size - used, "%s -> ",
                              settings->pools[steps[i].pool].path);

        used += length < 0 ? 0 : (size_t)length;
    }
    if (used < size)
        (void)snprintf(text + used, size - used, "%s", settings->pools[steps[0].pool].path);
}

static bool report_cycle(void *context, const struct graph_step *steps, uint32_t count)
{
    struct checking *checking = context;
    const struct settings *settings = checking->settings;
    const struct graph_step *closing = &steps[count - 1];
    const struct checking_pool *place;
    const struct config_pair *pair;
    const char *output;
    char path[PATH_SIZE];
    char text[CYCLE_SIZE];

    checking->wrong = true;
    while (closing->output == SETTINGS_NONE)
        closing--; /* an edge to a member closes no cycle by itself: look for an output */
    if (settings->pools[closing->pool].copy)
        return true;
    place = &checking->pools[closing->pool];
    output = settings->pools[closing->pool].outputs[closing->output].name;
    pair = config_find_pair(config_find(place->node, "outputs"), output);
    (void)snprintf(path, sizeof path, "%s.outputs.%s", place->path, output);
    format_cycle(settings, steps, count, text, sizeof text);
    report_add(checking->report, &pair->value->mark, path,
               "a cycle of outputs that wait can stand still for ever: %s", text);
    return !report_has_enough(checking->report);
}

static int check_cycles(struct checking *checking)
{
    struct graph graph;
    int status = graph_init(&graph, checking->settings);

    if (status != WEIR_OK)
        return status;
    status = graph_find_cycles(&graph, report_cycle, checking);
    graph_finish(&graph);
    return status;
}

/* Checks that the payload that may wait in all mailboxes fits into `host.memory`. */
static void check_memory(struct checking *checking)
{
    const struct settings *settings = checking->settings;
    const struct config_node *node = config_find(config_find(checking->root, "host"), "memory");
    uint64_t total = 0;
    char needed[32];
    char memory[32];

    for (uint32_t i = 0; i < settings->pool_count; i++) {
        const struct settings_pool *pool = &settings->pools[i];
        uint64_t bytes = 0;

        if (__builtin_mul_overflow(pool->core.mailbox_bytes, pool->nested ? 0 : pool->core.size_max,
                                   &bytes) ||
            __builtin_add_overflow(total, bytes, &total))
            total = UINT64_MAX;
    }
    if (!node || settings->host.memory == 0 || total <= settings->host.memory)
        return;
    text_format_size(total, needed, sizeof needed);
    text_format_size(settings->host.memory, memory, sizeof memory);
    report_add(checking->report, &node->mark, "host.memory",
               "workers x mailbox_bytes of all pools make %s, more than %s", needed, memory);
    checking->wrong = true;
}

/* --- all -------------------------------------------------------------------------------------- */

static int check_all(struct checking *checking)
{
    int status = read_top(checking);

    if (status == WEIR_OK)
        status = read_dispatchers(checking);
    if (status == WEIR_OK)
        status = pools_read(checking);
    if (status == WEIR_OK)
        status = outputs_bind(checking);
    if (status == WEIR_OK)
        status = read_sources(checking);
    if (status == WEIR_OK)
        status = check_cycles(checking);
    if (status == WEIR_OK)
        check_memory(checking);
    if (status == WEIR_OK)
        status = feeds_check(checking);
    if (status == WEIR_OK)
        status = keyed_check(checking);
    if (status == WEIR_OK)
        status = named_pools_check(checking);
    if (status == WEIR_OK)
        quarantine_check(checking);
    if (status == WEIR_OK)
        status = state_files_check(checking);
    if (status == WEIR_OK)
        status = meetings_check(checking);
    if (status == WEIR_OK)
        status = checking_note(checking, deferred_checks_run(checking));
    if (status == WEIR_OK)
        status = reached_check(checking);
    return status;
}

int config_check(const struct config_tree *tree, const struct catalogue *catalogue,
                 uint32_t effective_cpus, struct report *report, struct settings **out_settings)
{
    struct checking checking = {
        .root = tree->root, .catalogue = catalogue, .cpus = effective_cpus, .report = report
    };
    int status = WEIR_ENOMEM;

    assert(effective_cpus > 0);
    checking.wrong = tree->wrong;
    report_close_places(report);
    checking.settings = calloc(1, sizeof *checking.settings);
    if (!checking.settings)
        return status;
    text_store_init(&checking.settings->store);
    text_store_init(&checking.scratch);
    key_index_init(&checking.names);
    status = check_all(&checking);
    if (status == WEIR_OK && checking.wrong)
        status = WEIR_EINVALID;
    deferred_checks_finish(&checking.deferred);
    free(checking.pools);
    key_index_finish(&checking.names);
    text_store_finish(&checking.scratch);
    if (status == WEIR_OK)
        *out_settings = checking.settings;
    else
        settings_destroy(checking.settings);
    return status;
}
