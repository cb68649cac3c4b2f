/* SPDX-License-Identifier: MIT */
#include "host/pages/pool_routes.h"

#include <inttypes.h>
#include <string.h>

#include "base/plural.h"
#include "base/text.h"
#include "config/json.h"
#include "host/pages/member_list.h"
#include "host/pages/overview.h"

#define SCALE_AUTO UINT32_MAX

unsigned pool_routes_all(struct inquiry *inquiry)
{
    overview_pools(&inquiry->routes->overview, inquiry->request->wants_text, inquiry->stream);
    return HTTP_STATUS_OK;
}

unsigned pool_routes_one(struct inquiry *inquiry)
{
    return overview_pool(&inquiry->routes->overview, inquiry->rest, inquiry->request->wants_text,
                         inquiry->stream)
               ? HTTP_STATUS_OK
               : inquiry_no_such_pool(inquiry);
}

/* With a path after the slash: only that pool and its members. */
unsigned pool_routes_members(struct inquiry *inquiry)
{
    struct member_list_part part = { .path = inquiry->rest };
    uint64_t from = 0;
    char text[32];

    if (http_query(inquiry->request, "from", text, sizeof text) &&
        (text_parse_u64(text, &from) != TEXT_OK || from > UINT32_MAX))
        return inquiry_refuse(inquiry, HTTP_STATUS_BAD_REQUEST, "from must be 0..%" PRIu32,
                              UINT32_MAX);
    part.from = (uint32_t)from;
    return member_list_write(&inquiry->routes->overview, &part, inquiry->request->wants_text,
                             inquiry->stream)
               ? HTTP_STATUS_OK
               : inquiry_no_such_pool(inquiry);
}

/* The result of a request to scale. */
struct scaled {
    struct weir_resized resized;
    struct pool_scaling scaling;
    char why[64]; /* the reason of WEIR_EINVALID */
};

static void answer_scaled(struct inquiry *inquiry, const struct scaled *scaled)
{
    const struct weir_resized *resized = &scaled->resized;
    const char *scale = pool_scaling_name(&scaled->scaling);
    struct json json;

    if (inquiry->request->wants_text) {
        fprintf(inquiry->stream, "%s: %u %s, %u changed%s\n", inquiry->rest, resized->size,
                plural(resized->size, "worker", "workers"), resized->changed,
                !scaled->scaling.scale.on   ? ""
                : scaled->scaling.suspended ? "; automatic scaling is suspended"
                                            : "; the pool scales itself");
        return;
    }
    json_init(&json, inquiry->stream);
    json_begin_object(&json, NULL);
    json_text(&json, "path", inquiry->rest);
    json_unsigned(&json, "size", resized->size);
    json_unsigned(&json, "changed", resized->changed);
    json_unsigned(&json, "epoch", resized->epoch);
    json_text(&json, "scale", scale);
    json_end(&json);
    json_finish(&json);
}

static void describe_bounds_locked(const struct settings_pool *pool, char *text, size_t size)
{
    if (pool->nested)
        (void)snprintf(text, size, "its members are pools: scale one of them");
    else
        (void)snprintf(text, size, "its bounds are %u..%u", pool->core.size_min,
                       pool->core.size_max);
}

static int resize_locked(const struct settings_pool *settings, struct pool *pool,
                         struct executor *executor, uint32_t size, struct scaled *out)
{
    int status = pool_resize(pool, executor, size, &out->resized);

    if (status == 0)
        resize_report(pool, RESIZE_BY_OPERATOR, NULL, &out->resized);
    else
        describe_bounds_locked(settings, out->why, sizeof out->why);
    return status;
}

static int scale_itself(const struct settings_pool *settings, struct pool *pool,
                        struct executor *executor, struct scaled *out)
{
    struct weir_pool_stats stats = { .size = sizeof stats };
    int status = pool_scale_auto(pool, executor);

    (void)snprintf(out->why, sizeof out->why, "%s",
                   settings->nested ? "its members are pools: scale one of them"
                                    : "it has no `scale` in the file");
    pool_stats(pool, &stats);
    out->resized.size = stats.target;
    out->resized.epoch = stats.epoch;
    return status;
}

/* `size` SCALE_AUTO: the pool scales itself again. WEIR_EUNKNOWN: no such pool. */
static int scale(struct inquiry *inquiry, uint32_t size, struct scaled *out)
{
    struct assembly *assembly = inquiry->routes->overview.assembly;
    struct executor *executor = runtime_enter(assembly->runtime);
    int status = WEIR_EUNKNOWN;
    uint32_t index;

    if (!executor)
        return WEIR_ENOMEM;
    lock_acquire(&assembly->lock);
    index = settings_find_pool(assembly->shared->settings, inquiry->rest);
    if (index != SETTINGS_NONE) {
        struct pool *pool = assembly->pools[index];

        const struct settings_pool *settings = &assembly->shared->settings->pools[index];

        if (size == SCALE_AUTO)
            status = scale_itself(settings, pool, executor, out);
        else
            status = resize_locked(settings, pool, executor, size, out);
        pool_look_at_scale(pool, &out->scaling);
    }
    lock_release(&assembly->lock);
    runtime_leave(executor);
    return status;
}

/* False: `text` is neither a number of workers nor `auto`. */
static bool parse_size(const char *text, uint32_t *out)
{
    uint64_t size = SCALE_AUTO;

    if (strcmp(text, "auto") != 0 &&
        (text_parse_u64(text, &size) != TEXT_OK || size > SETTINGS_POOL_SIZE_MAX))
        return false;
    *out = (uint32_t)size;
    return true;
}

static unsigned refuse_scale(struct inquiry *inquiry, int status, const char *text,
                             const struct scaled *scaled)
{
    if (status == WEIR_EUNKNOWN)
        return inquiry_no_such_pool(inquiry);
    if (status != WEIR_EINVALID)
        return inquiry_refuse(inquiry, HTTP_STATUS_CONFLICT, "%s: %s", inquiry->rest,
                              weir_status_text(status));
    if (strcmp(text, "auto") == 0)
        return inquiry_refuse(inquiry, HTTP_STATUS_CONFLICT, "%s cannot scale itself: %s",
                              inquiry->rest, scaled->why);
    return inquiry_refuse(inquiry, HTTP_STATUS_CONFLICT, "%s cannot have %s workers: %s",
                          inquiry->rest, text, scaled->why);
}

unsigned pool_routes_scale(struct inquiry *inquiry)
{
    struct scaled scaled = { .why = "" };
    uint32_t size = 0;
    char text[32];
    int status;

    if (!http_query(inquiry->request, "size", text, sizeof text) || !parse_size(text, &size))
        return inquiry_refuse(inquiry, HTTP_STATUS_BAD_REQUEST, "size must be 0..%u, or auto",
                              SETTINGS_POOL_SIZE_MAX);
    status = scale(inquiry, size, &scaled);
    if (status != 0)
        return refuse_scale(inquiry, status, text, &scaled);
    answer_scaled(inquiry, &scaled);
    return HTTP_STATUS_OK;
}

/* A pool or else a source. What it is; NULL: there is none. */
static const char *set_paused_locked(const struct assembly *assembly, const char *name, bool paused,
                                     struct executor *executor)
{
    uint32_t pool = settings_find_pool(assembly->shared->settings, name);
    uint32_t source = settings_find_source(assembly->shared->settings, name);

    if (pool != SETTINGS_NONE)
        pool_pause(assembly->pools[pool], paused, executor);
    else if (source != SETTINGS_NONE)
        source_pause(assembly->sources[source], paused, executor);
    return pool != SETTINGS_NONE ? "pool" : source != SETTINGS_NONE ? "source" : NULL;
}

static const char *set_paused(struct inquiry *inquiry, bool paused)
{
    struct assembly *assembly = inquiry->routes->overview.assembly;
    struct executor *executor = runtime_enter(assembly->runtime);
    const char *what;

    if (!executor)
        return NULL;
    lock_acquire(&assembly->lock);
    what = set_paused_locked(assembly, inquiry->rest, paused, executor);
    lock_release(&assembly->lock);
    runtime_leave(executor);
    return what;
}

static bool is_name_of_both(const struct inquiry *inquiry)
{
    const struct assembly *assembly = inquiry->routes->overview.assembly;
    bool is;

    lock_acquire(&inquiry->routes->overview.assembly->lock);
    is = settings_find_pool(assembly->shared->settings, inquiry->rest) != SETTINGS_NONE &&
         settings_find_source(assembly->shared->settings, inquiry->rest) != SETTINGS_NONE;
    lock_release(&inquiry->routes->overview.assembly->lock);
    return is;
}

static unsigned pause_or_resume(struct inquiry *inquiry, bool paused)
{
    const char *what = set_paused(inquiry, paused);
    char event[32];
    struct json json;

    if (!what)
        return inquiry_no_such_part(inquiry);
    (void)snprintf(event, sizeof event, "%s %s", what, paused ? "paused" : "resumed");
    log_event(runtime_log(inquiry->routes->overview.assembly->runtime), WEIR_LOG_INFO, "control",
              event, weir_str("path", inquiry->rest));
    if (inquiry->request->wants_text) {
        fprintf(inquiry->stream, "%s: %s%s\n", inquiry->rest, paused ? "paused" : "resumed",
                is_name_of_both(inquiry) ? " (the pool: the source of this name goes on as before)"
                                         : "");
        return HTTP_STATUS_OK;
    }
    json_init(&json, inquiry->stream);
    json_begin_object(&json, NULL);
    json_text(&json, "path", inquiry->rest);
    json_text(&json, "kind", what);
    json_bool(&json, "paused", paused);
    json_end(&json);
    json_finish(&json);
    return HTTP_STATUS_OK;
}

unsigned pool_routes_pause(struct inquiry *inquiry)
{
    return pause_or_resume(inquiry, true);
}

unsigned pool_routes_resume(struct inquiry *inquiry)
{
    return pause_or_resume(inquiry, false);
}
