/* SPDX-License-Identifier: MIT */
#include "config/pools.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "config/isolation.h"
#include "config/resolve.h"

/* A pool that was found in the file and is not read yet. */
struct waiting {
    struct checking_pool at;
    const struct config_node *key; /* its name; NULL for a copy */
    const char *name;
    uint32_t parent; /* index */
    bool copy;       /* not the first of its template */
};

/* A stack: the last pushed is read first, so members come right after their parent. */
struct reading {
    struct checking *checking;
    struct waiting *stack; /* owned */
    size_t count;
    size_t capacity;
};

/* How many more pools are allowed. Pools on the stack count already. */
static uint32_t room_of(const struct reading *reading)
{
    uint64_t known = (uint64_t)reading->checking->settings->pool_count + reading->count;

    return known < SETTINGS_POOLS_MAX ? SETTINGS_POOLS_MAX - (uint32_t)known : 0;
}

static int refuse_more(struct reading *reading, const struct mark *mark, const char *path)
{
    report_add(reading->checking->report, mark, path, "makes more than %u pools, copies counted",
               SETTINGS_POOLS_MAX);
    reading->count = 0;
    return WEIR_EINVALID;
}

static int push(struct reading *reading, const struct waiting *waiting)
{
    if (reading->count == reading->capacity) {
        size_t capacity = reading->capacity ? reading->capacity * 2 : 32;
        struct waiting *stack = realloc(reading->stack, capacity * sizeof *stack);

        if (!stack)
            return WEIR_ENOMEM;
        reading->stack = stack;
        reading->capacity = capacity;
    }
    reading->stack[reading->count++] = *waiting;
    return WEIR_OK;
}

/* --- finding ---------------------------------------------------------------------------------- */

/* Pushes the pools of a map from names to pools, last first. */
static int push_names(struct reading *reading, const struct config_node *map, const char *path,
                      uint32_t parent, bool copy)
{
    int status = WEIR_OK;

    if (map->count > room_of(reading))
        return refuse_more(reading, &map->pairs[room_of(reading)].key->mark, path);
    for (uint32_t i = map->count; i > 0 && status == WEIR_OK; i--) {
        const struct config_pair *pair = &map->pairs[i - 1];
        struct waiting waiting = {
            .at = { pair->value, NULL, pair->key->mark },
            .key = pair->key,
            .name = pair->key->text,
            .parent = parent,
            .copy = copy,
        };

        waiting.at.path = checking_text(reading->checking, "%s.%s", path, pair->key->text);
        status = waiting.at.path ? push(reading, &waiting) : WEIR_ENOMEM;
    }
    return status;
}

static int push_copies(struct reading *reading, const struct config_pair *template,
                       const char *path, uint32_t parent, uint32_t copies, bool copy)
{
    struct waiting waiting = { .at = { template->value, NULL, template->key->mark },
                               .parent = parent };
    int status = WEIR_OK;

    waiting.at.path = checking_text(reading->checking, "%s.pool", path);
    if (!waiting.at.path)
        return WEIR_ENOMEM;
    if (copies > room_of(reading))
        return refuse_more(reading, &waiting.at.mark, waiting.at.path);
    for (uint32_t i = copies; i > 0 && status == WEIR_OK; i--) {
        waiting.name = checking_text(reading->checking, "%u", i - 1);
        waiting.copy = copy || i > 1;
        status = waiting.name ? push(reading, &waiting) : WEIR_ENOMEM;
    }
    return status;
}

/* --- one pool --------------------------------------------------------------------------------- */

/* One pool being read. */
struct pool_reading {
    struct reading *reading;
    struct checking *checking;
    const struct waiting *waiting;
    struct report *report; /* NULL for a copy: mistakes were reported with the first copy */
    uint32_t index;
};

static struct settings_pool *pool_of(const struct pool_reading *at)
{
    return &at->checking->settings->pools[at->index];
}

static int refuse(const struct pool_reading *at, const struct mark *mark, const char *key,
                  const char *reason)
{
    char path[512];

    (void)snprintf(path, sizeof path, "%s%s%s", at->waiting->at.path, key[0] ? "." : "", key);
    report_add(at->report, mark, path, "%s", reason);
    return WEIR_EINVALID;
}

static bool grow(struct checking *checking)
{
    struct settings *settings = checking->settings;
    uint32_t capacity = checking->pool_capacity ? checking->pool_capacity * 2 : 16;
    struct settings_pool *pools = realloc(settings->pools, capacity * sizeof *pools);
    struct checking_pool *places;

    if (!pools)
        return false;
    settings->pools = pools;
    places = realloc(checking->pools, capacity * sizeof *places);
    if (!places)
        return false;
    checking->pools = places;
    checking->pool_capacity = capacity;
    return true;
}

/* Sets the path of a copy, too: its number may make it longer than the path of the first copy. */
static int set_path(struct pool_reading *at, const char *path)
{
    struct settings_pool *pool = pool_of(at);
    const char *slash = strrchr(path, '/');

    pool->path = path;
    pool->name = slash ? slash + 1 : path;
    if (strlen(path) <= SETTINGS_PATH_MAX)
        return checking_index_pool(at->checking, path, at->index);
    report_add(at->checking->report, &at->waiting->at.mark, at->waiting->at.path,
               "has a path longer than 100 bytes");
    return WEIR_EINVALID;
}

/* The initial settings of a pool: none, or, for a copy, those of the first copy of its template. */
static void begin_pool(struct pool_reading *at)
{
    struct checking *checking = at->checking;
    struct checking_pool *place = &checking->pools[at->index];

    *place = at->waiting->at;
    place->first = at->waiting->copy ? checking_find_template(checking, place->node) : at->index;
    if (at->waiting->copy)
        *pool_of(at) = checking->settings->pools[place->first];
    else
        *pool_of(at) = (struct settings_pool){ .size_now = SETTINGS_NONE };
}

static int note_written(const struct pool_reading *at)
{
    struct checking *checking = at->checking;
    const struct checking_pool *place = &at->waiting->at;

    if (checking_index_template(checking, place->node, at->index) != WEIR_OK)
        return WEIR_ENOMEM;
    return checking_written(checking, place->path, &place->mark, place->node,
                            &pool_of(at)->written);
}

/* Adds the pool to the settings and to the indexes. */
static int add_pool(struct pool_reading *at)
{
    struct checking *checking = at->checking;
    struct settings *settings = checking->settings;
    uint32_t parent = at->waiting->parent;
    const struct settings_pool *above;
    const char *path;

    if (settings->pool_count == checking->pool_capacity && !grow(checking))
        return WEIR_ENOMEM;
    assert(settings->pools && checking->pools);
    at->index = settings->pool_count++;
    above = parent == SETTINGS_NONE ? NULL : &settings->pools[parent];
    begin_pool(at);
    pool_of(at)->parent = parent;
    pool_of(at)->depth = above ? above->depth + 1 : 0;
    pool_of(at)->copy = at->waiting->copy;
    if (!at->waiting->copy && note_written(at) != WEIR_OK)
        return WEIR_ENOMEM;
    path = text_store_format(&settings->store, "%s%s%s", above ? above->path : "", above ? "/" : "",
                             at->waiting->name);
    return path ? set_path(at, path) : WEIR_ENOMEM;
}

/* --- size ------------------------------------------------------------------------------------- */

static const struct weir_option count_row = { .name = "size",
                                              .kind = WEIR_U32,
                                              .max = SETTINGS_POOL_SIZE_MAX };
static const struct weir_option copies_row = {
    .name = "size", .kind = WEIR_U32, .min = 1, .max = SETTINGS_POOLS_MAX
};

static int read_count(const struct pool_reading *at, const struct weir_option *row,
                      const struct config_node *node, const char *key, uint32_t *out)
{
    struct option_value value = { .name = row->name, .mark = node->mark };
    char path[512];

    if (node->kind == CONFIG_LIST || node->kind == CONFIG_MAP)
        value.shape = node->kind == CONFIG_LIST ? OPTION_LIST : OPTION_MAP;
    else
        value.shape = node->null ? OPTION_NONE : OPTION_SCALAR;
    value.scalar = (struct option_text){ node->text, node->mark, node->secret };
    (void)snprintf(path, sizeof path, "%s.%s", at->waiting->at.path, key);
    return option_fill(row, &value, path, &at->checking->scratch, at->report, out);
}

/* `{min: 2, max: 16}` */
static int read_range(const struct pool_reading *at, const struct config_node *node,
                      struct settings_pool *pool)
{
    const struct config_node *min = config_find(node, "min");
    const struct config_node *max = config_find(node, "max");
    int min_status;
    int max_status;

    if (!min || !max || node->count != 2)
        return refuse(at, &node->mark, "size", "must be a number, or {min: number, max: number}");
    min_status = read_count(at, &count_row, min, "size.min", &pool->core.size_min);
    max_status = read_count(at, &count_row, max, "size.max", &pool->core.size_max);
    if (min_status != WEIR_OK || max_status != WEIR_OK)
        return WEIR_EINVALID;
    if (pool->core.size_min > pool->core.size_max)
        return refuse(at, &min->mark, "size.min", "is larger than size.max");
    pool->size = pool->core.size_min;
    return WEIR_OK;
}

static int read_size(const struct pool_reading *at)
{
    const struct config_node *node = config_find(at->waiting->at.node, "size");
    struct settings_pool *pool = pool_of(at);
    int status = WEIR_OK;

    if (node && node->kind == CONFIG_MAP)
        return read_range(at, node, pool);
    pool->size = at->checking->cpus;
    if (node)
        status = read_count(at, &count_row, node, "size", &pool->size);
    pool->core.size_min = pool->size;
    pool->core.size_max = pool->size;
    return status;
}

/* --- pools of pools --------------------------------------------------------------------------- */

static int read_copies(const struct pool_reading *at, const struct config_pair *template)
{
    const struct config_node *node = config_find(at->waiting->at.node, "size");
    struct settings_pool *pool = pool_of(at);
    int status;

    if (!node)
        return refuse(at, &at->waiting->at.mark, "size",
                      "is required with `pool`: how many copies");
    status = read_count(at, &copies_row, node, "size", &pool->size);
    if (status != WEIR_OK)
        return status;
    pool->member_count = pool->size;
    return push_copies(at->reading, template, at->waiting->at.path, at->index, pool->size,
                       at->waiting->copy);
}

static int read_members(const struct pool_reading *at, const struct config_node *members)
{
    const struct config_pair *size = config_find_pair(at->waiting->at.node, "size");
    struct settings_pool *pool = pool_of(at);
    const char *path = checking_text(at->checking, "%s.members", at->waiting->at.path);

    if (!path)
        return WEIR_ENOMEM;
    if (members->kind != CONFIG_MAP || members->count == 0)
        return refuse(at, &members->mark, "members", "must be a map from names to pools");
    if (size)
        return refuse(at, &size->key->mark, "size",
                      "belongs to workers or copies: a pool with members has as many as it names");
    pool->size = members->count;
    pool->member_count = members->count;
    return push_names(at->reading, members, path, at->index, at->waiting->copy);
}

/* The pool of pools with `lease` that the pool is a member of; NULL: none. */
static const struct settings_pool *group_of(const struct pool_reading *at)
{
    const struct settings *settings = at->checking->settings;
    uint32_t parent = pool_of(at)->parent;

    return parent != SETTINGS_NONE && settings->pools[parent].core.lease.on
               ? &settings->pools[parent]
               : NULL;
}

/* A taker gets any worker of the members. */
static int check_group(const struct pool_reading *at)
{
    const struct config_pair *lease = config_find_pair(at->waiting->at.node, "lease");
    struct settings_pool *pool = pool_of(at);

    pool->core.lease.on = lease != NULL;
    if (group_of(at))
        return refuse(at, &at->waiting->at.mark, "",
                      "must be a pool of workers: it is in a pool with `lease`");
    if (lease && (pool->core.route == WEIR_ROUTE_HASH || pool->core.route == WEIR_ROUTE_BROADCAST))
        return refuse(at, &lease->key->mark, "lease",
                      "needs route round_robin, least_loaded or random");
    return WEIR_OK;
}

static int check_nesting(const struct pool_reading *at)
{
    const struct config_node *node = at->waiting->at.node;
    const struct config_node *route = config_find(node, "route");
    struct settings_pool *pool = pool_of(at);
    int status = check_group(at);

    if (status != WEIR_OK)
        return status;

    if (pool->depth + 1 >= SETTINGS_POOL_DEPTH_MAX)
        return refuse(at, &at->waiting->at.mark, "", "is nested deeper than 8 pools");
    if (config_find(node, "members") && config_find(node, "pool"))
        return refuse(at, &at->waiting->at.mark, "",
                      "has both members and a template `pool`: one of them");
    if (pool->core.route == WEIR_ROUTE_PULL && route)
        return refuse(at, &route->mark, "route", "pull needs workers as members, not pools");
    return WEIR_OK;
}

static int read_nested(const struct pool_reading *at)
{
    const struct config_node *node = at->waiting->at.node;
    const struct config_node *members = config_find(node, "members");
    struct settings_pool *pool = pool_of(at);
    int status = check_nesting(at);

    pool->use.dispatcher = SETTINGS_NONE;
    if (status != WEIR_OK)
        return status;
    status = members ? read_members(at, members) : read_copies(at, config_find_pair(node, "pool"));
    pool->core.size_min = pool->size;
    pool->core.size_max = pool->size;
    return status;
}

/* --- pools of workers ------------------------------------------------------------------------- */

static void warn_unlimited(const struct pool_reading *at)
{
    const struct config_node *node = config_find(at->waiting->at.node, "mailbox");
    char path[512];

    if (!node || node->kind != CONFIG_SCALAR || strcmp(node->text, "unlimited") != 0)
        return;
    (void)snprintf(path, sizeof path, "%s.mailbox", at->waiting->at.path);
    report_warn(at->report, &node->mark, path,
                "is unlimited: senders never have to wait, and memory may run out");
}

/* Limits a pool to one worker, also at run time, when its behaviour is exclusive. */
static int bound_alone(const struct pool_reading *at)
{
    const struct config_node *node = config_find(at->waiting->at.node, "size");
    struct settings_pool *pool = pool_of(at);

    if (!pool->use.entry || !(pool->use.entry->behaviour->flags & WEIR_ALONE))
        return WEIR_OK;
    if (node && pool->core.size_max > 1)
        return refuse(at, &node->mark, "size",
                      "must be 1, or {min: 0, max: 1}: a worker of this "
                      "behaviour is alone");
    if (!node)
        pool->size = 1;
    pool->core.size_min = 0;
    pool->core.size_max = 1;
    return WEIR_OK;
}

/* A law needs room to grow, and members of which one is as good as another. */
static int check_scale(const struct pool_reading *at)
{
    const struct config_pair *scale = config_find_pair(at->waiting->at.node, "scale");
    const struct config_node *size = config_find(at->waiting->at.node, "size");
    struct settings_pool *pool = pool_of(at);

    pool->core.scale.on = scale != NULL;
    if (!scale)
        return WEIR_OK;
    if (size && size->kind == CONFIG_MAP && pool->core.size_min == pool->core.size_max)
        return refuse(at, &scale->key->mark, "scale",
                      "has no room: size.min and size.max are the same");
    if (pool->core.size_max == 0 || pool->core.size_min == pool->core.size_max)
        return refuse(at, &scale->key->mark, "scale",
                      "needs bounds: write size: {min: number, max: number}");
    if (pool->core.route == WEIR_ROUTE_BROADCAST)
        return refuse(at, &scale->key->mark, "scale",
                      "does not help with route broadcast: each worker gets every message");
    return WEIR_OK;
}

/* A taker waits in the one queue of the pool. In a group, workers are leased in any case. */
static int check_lease(const struct pool_reading *at)
{
    const struct config_pair *lease = config_find_pair(at->waiting->at.node, "lease");
    const struct config_node *mark = lease ? lease->key : at->waiting->at.node;
    const struct settings_pool *group = group_of(at);
    struct settings_pool *pool = pool_of(at);

    pool->core.lease.on = lease || group;
    if (!pool->core.lease.on)
        return WEIR_OK;
    if (!lease)
        pool->core.lease = group->core.lease;
    if (!config_find(at->waiting->at.node, "route"))
        pool->core.route = WEIR_ROUTE_PULL;
    if (pool->core.route != WEIR_ROUTE_PULL)
        return refuse(at, &mark->mark, "lease", "needs route pull");
    if (pool->core.mailbox == WEIR_UNBUFFERED)
        return refuse(at, &mark->mark, "lease",
                      "has a queue of its own: leave out mailbox unbuffered");
    return WEIR_OK;
}

static int check_retry(const struct pool_reading *at)
{
    const struct config_node *retry = config_find(at->waiting->at.node, "retry");
    const struct retry *given = &pool_of(at)->core.retry;
    const struct config_node *max = retry ? config_find(retry, "max") : NULL;
    const struct config_node *bound = retry ? config_find(retry, "for") : NULL;
    char path[512];

    if (bound && given->for_ms > 0 && given->backoff_ms_max == 0)
        return refuse(at, &bound->mark, "retry.for",
                      "needs `backoff`: the time of a message with an origin is the sum of its "
                      "pauses");
    if (!max || given->max != RETRY_UNLIMITED || given->backoff_ms_max > 0)
        return WEIR_OK;
    (void)snprintf(path, sizeof path, "%s.retry.max", at->waiting->at.path);
    report_warn(at->report, &max->mark, path,
                "is unlimited without `backoff`: a message may come again at once, without end");
    return WEIR_OK;
}

static int check_isolation(const struct pool_reading *at)
{
    const struct config_pair *pair = config_find_pair(at->waiting->at.node, "isolation");
    char text[160];
    const char *why = isolation_refuses(pool_of(at), text, sizeof text);

    isolation_note(at->waiting->at.node, pool_of(at));
    return why && pair ? refuse(at, &pair->value->mark, "isolation", why) : WEIR_OK;
}

static int read_workers(const struct pool_reading *at)
{
    struct resolve_place place = { at->waiting->at.node, at->waiting->at.path, RESOLVE_WORKER,
                                   at->report, pool_of(at)->isolation == SETTINGS_PROCESS };
    int result = read_size(at);
    int status;

    if (!config_find(place.node, "use"))
        result = refuse(at, &at->waiting->at.mark, "",
                        "needs `use` (a pool of workers), `members` or `pool` (a pool of pools)");
    status = resolve_use(at->checking, &place, &pool_of(at)->use);
    if (result == WEIR_OK)
        result = check_scale(at); /* the bounds as they are written */
    if (result == WEIR_OK)
        result = check_lease(at);
    if (result == WEIR_OK)
        result = bound_alone(at);
    if (result == WEIR_OK && status == WEIR_OK)
        result = check_isolation(at);
    if (result == WEIR_OK)
        result = check_retry(at);
    if (status != WEIR_OK)
        result = status;
    warn_unlimited(at);
    return result;
}

/* --- all of them ------------------------------------------------------------------------------ */

static int read_manager(const struct pool_reading *at)
{
    struct resolve_place place = { at->waiting->at.node, at->waiting->at.path, RESOLVE_WORKER,
                                   at->report, false };

    return resolve_manager(at->checking, &place, &pool_of(at)->manager);
}

/* Reads a pool's keys into settings->pools[at->index], which may move when members are added. */
static int read_keys(struct pool_reading *at)
{
    const struct waiting *waiting = at->waiting;
    struct fill fill = checking_fill(at->checking, at->report);
    struct settings_pool *pool = pool_of(at);
    int result;
    int status;

    pool->nested = config_find(waiting->at.node, "members") ||
                   config_find(waiting->at.node, "pool");
    result = fill_section(&fill, language_pool,
                          pool->nested ? LANGUAGE_OF_POOLS : LANGUAGE_OF_WORKERS, waiting->at.node,
                          &waiting->at.mark, waiting->at.path, pool);
    status = result == WEIR_ENOMEM ? result : read_manager(at);
    if (status != WEIR_OK)
        result = status;
    if (result == WEIR_ENOMEM)
        return result;
    status = pool->nested ? read_nested(at) : read_workers(at);
    return status != WEIR_OK ? status : result;
}

/* The first copy of the template was read in full: a copy only needs its members. */
static int read_copy(const struct pool_reading *at)
{
    const struct config_node *node = at->waiting->at.node;
    const struct config_node *members = config_find(node, "members");
    const char *path = checking_text(at->checking, "%s.members", at->waiting->at.path);

    if (!pool_of(at)->nested)
        return WEIR_OK;
    if (!path)
        return WEIR_ENOMEM;
    if (members)
        return push_names(at->reading, members, path, at->index, true);
    return push_copies(at->reading, config_find_pair(node, "pool"), at->waiting->at.path, at->index,
                       pool_of(at)->size, true);
}

static int read_pool(struct reading *reading, const struct waiting *waiting)
{
    struct checking *checking = reading->checking;
    struct pool_reading at = { reading, checking, waiting, waiting->copy ? NULL : checking->report,
                               0 };
    struct fill fill = checking_fill(checking, at.report);
    int status = WEIR_OK;

    if (waiting->copy && checking->wrong)
        return WEIR_OK; /* the settings are wrong and will not be used */
    if (waiting->key)
        status = fill_check_name(&fill, waiting->key, waiting->at.path);
    if (status == WEIR_OK)
        status = fill_expect_map(&fill, waiting->at.node, waiting->at.path);
    if (status == WEIR_OK)
        status = add_pool(&at);
    if (status != WEIR_OK)
        return status;
    return waiting->copy ? read_copy(&at) : read_keys(&at);
}

int pools_read(struct checking *checking)
{
    const struct config_node *pools = config_find(checking->root, "pools");
    struct fill fill = checking_fill(checking, checking->report);
    struct reading reading = { checking, NULL, 0, 0 };
    int status = checking_note(checking, fill_expect_map(&fill, pools, "pools"));

    if (status == WEIR_OK && pools && pools->kind == CONFIG_MAP)
        status = checking_note(checking,
                               push_names(&reading, pools, "pools", SETTINGS_NONE, false));
    while (checking_goes_on(checking, status) && reading.count) {
        struct waiting waiting = reading.stack[--reading.count];

        status = checking_note(checking, read_pool(&reading, &waiting));
    }
    free(reading.stack);
    return status;
}
