#include "host/pages/inquiry.h"

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

unsigned inquiry_no_such_pool(struct inquiry *inquiry)
{
    struct assembly *assembly = inquiry->routes->overview.assembly;
    bool is_source;

    pthread_mutex_lock(&assembly->lock);
    is_source = settings_find_source(assembly->shared->settings, inquiry->rest) != SETTINGS_NONE;
    pthread_mutex_unlock(&assembly->lock);
    return inquiry_refuse(inquiry, HTTP_STATUS_NOT_FOUND, "there is no pool \"%s\"%s",
                          inquiry->rest,
                          is_source ? ": it is a source, of which `weir inspect` tells" : "");
}
