/* SPDX-License-Identifier: MIT */
#include "http_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trial.h"
#include "unit/wire/http1_plain.h"

#define CONTENT_TYPE "content-type: "

static bool is_health(const char *resource)
{
    size_t size = strlen(MODEL_HEALTH);

    return strncmp(resource, MODEL_HEALTH, size) == 0 &&
           (resource[size] == '\0' || resource[size] == '?');
}

/* The status of a request that is not for the pool. */
static unsigned own_status(const struct http1_plain *plain)
{
    if (plain->is_asterisk || is_health(plain->resource))
        return 200;
    if (plain->method[strspn(plain->method, "ABCDEFGHIJKLMNOPQRSTUVWXYZ-")] != '\0')
        return 501;
    return plain->length > MODEL_BODY_MAX || plain->body_size > MODEL_BODY_MAX ? 413 : 0;
}

static void write_message(struct model_request *request, const struct http1_plain *plain)
{
    const char *host = plain->host ? plain->host : plain->field_host;
    size_t size;
    FILE *line = open_memstream(&request->line, &size);
    FILE *rest = open_memstream(&request->rest, &request->rest_size);

    trial_must(line && rest, "memory is out");
    (void)fprintf(line, "%s %s%s\n", plain->method, plain->resource[0] == '/' ? "" : "/",
                  plain->resource);
    if (host)
        (void)fprintf(rest, "host: %s\n", host);
    (void)fputc('\n', rest);
    (void)fwrite(plain->body ? plain->body : "", 1, plain->body_size, rest);
    (void)fclose(line);
    (void)fclose(rest);
}

/* True: there may be another request behind it. */
static bool add(struct model *model, const struct http1_plain *plain)
{
    struct model_request *request = &model->requests[model->count++];
    bool has_body = plain->is_chunked || plain->length > 0;

    trial_must(model->count <= MODEL_REQUESTS_MAX, "too many requests");
    *request = (struct model_request){ .status = own_status(plain),
                                       .is_head = strcmp(plain->method, "HEAD") == 0 };
    if (request->status == 0)
        write_message(request, plain);
    /* The body of a request that is not for the pool is not read. */
    return !plain->closes && !(request->status && has_body);
}

/* The method is known when the request is refused for what stands behind it. */
static bool begins_as_head(const char *bytes, size_t size)
{
    size_t blank = size >= 2 && memcmp(bytes, "\r\n", 2) == 0 ? 2 : 0;

    return size - blank >= 5 && memcmp(bytes + blank, "HEAD ", 5) == 0;
}

void model_read(struct model *model, const char *bytes, size_t size)
{
    size_t at = 0;
    bool goes_on = true;

    model->count = 0;
    model->end = MODEL_OPEN;
    model->refuses_head = false;
    while (goes_on && at < size) {
        struct http1_plain plain = http1_plain_read(bytes + at, size - at, MODEL_HEAD_MAX,
                                                    MODEL_HEAD_MAX);

        goes_on = plain.state == HTTP1_PLAIN_ACCEPTED;
        if (plain.state == HTTP1_PLAIN_REFUSED)
            model->end = MODEL_REFUSED;
        /* The server may also refuse a head that has no end yet. */
        model->refuses_head = !goes_on && begins_as_head(bytes + at, size - at);
        if (goes_on && !add(model, &plain)) {
            model->end = MODEL_CLOSED;
            goes_on = false;
        }
        at += plain.used;
        http1_plain_free(&plain);
    }
}

void model_free(struct model *model)
{
    for (size_t i = 0; i < model->count; i++) {
        free(model->requests[i].line);
        free(model->requests[i].rest);
    }
}

bool model_is_message(const struct model_request *request, const char *message, size_t size)
{
    size_t line = strlen(request->line);
    const char *rest = message + line, *end = message + size;

    if (size < line || memcmp(message, request->line, line) != 0)
        return false;
    if ((size_t)(end - rest) >= strlen(CONTENT_TYPE) &&
        memcmp(rest, CONTENT_TYPE, strlen(CONTENT_TYPE)) == 0) {
        const char *stop = memchr(rest, '\n', (size_t)(end - rest));

        rest = stop ? stop + 1 : end;
    }
    return (size_t)(end - rest) == request->rest_size &&
           memcmp(rest, request->rest, request->rest_size) == 0;
}
