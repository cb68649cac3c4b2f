/* SPDX-License-Identifier: MIT */
#include "host/pages/inquiry.h"

#include "base/text.h"
#include "config/json.h"

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

/* The path of the pool, or the name of the source, that is nearest to `path`; NULL: none is near
 * enough. */
static const char *nearest_part(const struct settings *settings, const char *path,
                                bool with_sources)
{
    struct text_guess guess;

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
