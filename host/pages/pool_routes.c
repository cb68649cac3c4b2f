#include "host/pages/pool_routes.h"

#include "base/text.h"
#include "config/json.h"
#include "host/pages/member_list.h"
#include "host/pages/overview.h"

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
    return member_list_write(&inquiry->routes->overview, inquiry->rest,
                             inquiry->request->wants_text, inquiry->stream)
               ? HTTP_STATUS_OK
               : inquiry_no_such_pool(inquiry);
}

static void tell_resized(struct inquiry *inquiry, const struct weir_resized *resized)
{
    struct json json;

    if (inquiry->request->wants_text) {
        fprintf(inquiry->stream, "%s: %u workers, %u changed\n", inquiry->rest, resized->size,
                resized->changed);
        return;
    }
    json_init(&json, inquiry->stream);
    json_begin_object(&json, NULL);
    json_text(&json, "path", inquiry->rest);
    json_unsigned(&json, "size", resized->size);
    json_unsigned(&json, "changed", resized->changed);
    json_unsigned(&json, "epoch", resized->epoch);
    json_end(&json);
    json_finish(&json);
}

static void tell_bounds_locked(const struct settings_pool *pool, char *text, size_t size)
{
    if (pool->nested)
        (void)snprintf(text, size, "its members are pools: scale one of them");
    else
        (void)snprintf(text, size, "its bounds are %u..%u", pool->core.size_min,
                       pool->core.size_max);
}

/* WEIR_EUNKNOWN: no such pool. WEIR_EINVALID: `why` has the reason. */
static int scale(struct inquiry *inquiry, uint32_t size, struct weir_resized *out, char *why,
                 size_t why_size)
{
    struct assembly *assembly = inquiry->routes->overview.assembly;
    struct executor *executor = runtime_enter(assembly->runtime);
    int status = WEIR_EUNKNOWN;
    uint32_t index;

    if (!executor)
        return WEIR_ENOMEM;
    pthread_mutex_lock(&assembly->lock);
    index = settings_find_pool(assembly->held->settings, inquiry->rest);
    if (index != SETTINGS_NONE) {
        status = pool_resize(assembly->pools[index], executor, size, out);
        tell_bounds_locked(&assembly->held->settings->pools[index], why, why_size);
    }
    pthread_mutex_unlock(&assembly->lock);
    runtime_leave(executor);
    return status;
}

unsigned pool_routes_scale(struct inquiry *inquiry)
{
    struct weir_resized resized = { 0 };
    char text[32], why[64];
    uint64_t size = 0;
    int status;

    if (!http_query(inquiry->request, "size", text, sizeof text) ||
        text_parse_u64(text, &size) != TEXT_OK || size > SETTINGS_POOL_SIZE_MAX)
        return inquiry_refuse(inquiry, HTTP_STATUS_BAD_REQUEST, "size must be 0..%u",
                              SETTINGS_POOL_SIZE_MAX);
    status = scale(inquiry, (uint32_t)size, &resized, why, sizeof why);
    if (status == WEIR_EUNKNOWN)
        return inquiry_no_such_pool(inquiry);
    if (status == WEIR_EINVALID)
        return inquiry_refuse(inquiry, HTTP_STATUS_CONFLICT, "%s cannot have %s workers: %s",
                              inquiry->rest, text, why);
    if (status != 0)
        return inquiry_refuse(inquiry, HTTP_STATUS_CONFLICT, "%s: %s", inquiry->rest,
                              weir_status_text(status));
    log_event(runtime_log(inquiry->routes->overview.assembly->runtime), WEIR_LOG_INFO, "control",
              "pool scaled", weir_str("path", inquiry->rest), weir_uint("size", resized.size),
              weir_uint("changed", resized.changed));
    tell_resized(inquiry, &resized);
    return HTTP_STATUS_OK;
}

/* False: there is no such pool. */
static bool set_paused(struct inquiry *inquiry, bool paused)
{
    struct assembly *assembly = inquiry->routes->overview.assembly;
    struct executor *executor = runtime_enter(assembly->runtime);
    uint32_t index;

    if (!executor)
        return false;
    pthread_mutex_lock(&assembly->lock);
    index = settings_find_pool(assembly->held->settings, inquiry->rest);
    if (index != SETTINGS_NONE)
        pool_pause(assembly->pools[index], paused, executor);
    pthread_mutex_unlock(&assembly->lock);
    runtime_leave(executor);
    return index != SETTINGS_NONE;
}

static unsigned pause_or_resume(struct inquiry *inquiry, bool paused)
{
    struct json json;

    if (!set_paused(inquiry, paused))
        return inquiry_no_such_pool(inquiry);
    log_event(runtime_log(inquiry->routes->overview.assembly->runtime), WEIR_LOG_INFO, "control",
              paused ? "pool paused" : "pool resumed", weir_str("path", inquiry->rest));
    if (inquiry->request->wants_text) {
        fprintf(inquiry->stream, "%s: %s\n", inquiry->rest, paused ? "paused" : "resumed");
        return HTTP_STATUS_OK;
    }
    json_init(&json, inquiry->stream);
    json_begin_object(&json, NULL);
    json_text(&json, "path", inquiry->rest);
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
