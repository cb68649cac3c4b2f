/* SPDX-License-Identifier: MIT */
#include "host/pages/inquiry.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "config/json.h"
#include "host/reload/pool_restart.h"

unsigned inquiry_refuse(struct inquiry *inquiry, unsigned status, const char *format, ...)
{
    char text[512];
    va_list arguments;
    struct json json;

    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (inquiry->request->wants_text) {
        fprintf(inquiry->stream, "error: %s\n", text);
        return status;
    }
    json_init(&json, inquiry->stream);
    json_begin_object(&json, NULL);
    json_text(&json, "error", text);
    json_end(&json);
    json_finish(&json);
    return status;
}

/* The path without the pools around it. */
static bool is_end_of(const char *given, const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash && strcmp(slash + 1, given) == 0;
}

/* The path of the pool, or the name of the source, that is nearest to `path`; NULL: none is near
 * enough. */
static const char *nearest_part(const struct settings *settings, const char *path,
                                bool with_sources)
{
    struct text_guess guess;

    for (uint32_t i = 0; i < settings->pool_count; i++)
        if (is_end_of(path, settings->pools[i].path))
            return settings->pools[i].path;
    text_guess_init(&guess, path);
    for (uint32_t i = 0; i < settings->pool_count; i++)
        text_guess_offer(&guess, settings->pools[i].path);
    for (uint32_t i = 0; with_sources && i < settings->source_count; i++)
        text_guess_offer(&guess, settings->sources[i].name);
    return text_guess_best(&guess);
}

static unsigned refuse_unknown(struct inquiry *inquiry, const char *what, bool with_sources)
{
    struct assembly *assembly = inquiry->routes->overview.assembly;
    const char *nearest = NULL;
    char hint[HTTP_TARGET_MAX] = "";
    bool is_source;

    lock_acquire(&assembly->lock); /* the settings stay until the unlock */
    is_source = settings_find_source(assembly->shared->settings, inquiry->rest) != SETTINGS_NONE;
    if (!is_source)
        nearest = nearest_part(assembly->shared->settings, inquiry->rest, with_sources);
    if (nearest)
        (void)snprintf(hint, sizeof hint, "; did you mean \"%s\"?", nearest);
    lock_release(&assembly->lock);
    return inquiry_refuse(inquiry, HTTP_STATUS_NOT_FOUND, "there is no %s \"%s\"%s", what,
                          inquiry->rest,
                          is_source ? ": it is a source, which `weir inspect` shows" : hint);
}

unsigned inquiry_no_such_pool(struct inquiry *inquiry)
{
    return refuse_unknown(inquiry, "pool", false);
}

unsigned inquiry_no_such_part(struct inquiry *inquiry)
{
    return refuse_unknown(inquiry, "pool or source", true);
}

/* Writes what workers the pool of `pool#3` has. False: `rest` is no such path. */
static bool describe_workers(const struct inquiry *inquiry, char *out, size_t size)
{
    struct assembly *assembly = inquiry->routes->overview.assembly;
    const char *mark = strrchr(inquiry->rest, '#');
    struct renewal_worker worker;
    char path[SETTINGS_PATH_MAX + 1];
    uint32_t found;
    uint64_t number;
    bool nested = false;

    if (!mark || (size_t)(mark - inquiry->rest) >= sizeof path ||
        text_parse_u64(mark + 1, &number) != TEXT_OK || number >= RENEWAL_ALL)
        return false;
    (void)snprintf(path, sizeof path, "%.*s", (int)(mark - inquiry->rest), inquiry->rest);
    lock_acquire(&assembly->lock); /* the pool stays until the unlock */
    found = settings_find_pool(assembly->shared->settings, path);
    if (found != SETTINGS_NONE) {
        nested = assembly->shared->settings->pools[found].nested;
        renewal_look(assembly->pools[found], (uint32_t)number, &worker);
    }
    lock_release(&assembly->lock);
    if (nested)
        (void)snprintf(out, size, "the members of %s are pools: name a worker of one of them",
                       path);
    else if (found != SETTINGS_NONE)
        pool_restart_describe_none(path, (uint32_t)number, &worker, out, size);
    return found != SETTINGS_NONE;
}

/* True when the file has it, so that it was there. */
static bool is_part(const struct inquiry *inquiry)
{
    struct assembly *assembly = inquiry->routes->overview.assembly;
    bool is_one;

    lock_acquire(&assembly->lock); /* the settings stay until the unlock */
    is_one = settings_find_source(assembly->shared->settings, inquiry->rest) != SETTINGS_NONE ||
             settings_find_pool(assembly->shared->settings, inquiry->rest) != SETTINGS_NONE;
    lock_release(&assembly->lock);
    return is_one;
}

unsigned inquiry_no_such_actor(struct inquiry *inquiry)
{
    char why[HTTP_TARGET_MAX];

    if (is_part(inquiry))
        return inquiry_refuse(inquiry, HTTP_STATUS_NOT_FOUND, "%s has ended", inquiry->rest);
    if (describe_workers(inquiry, why, sizeof why))
        return inquiry_refuse(inquiry, HTTP_STATUS_NOT_FOUND, "%s", why);
    return refuse_unknown(inquiry, "pool, source, worker or actor", true);
}
