/* SPDX-License-Identifier: MIT */
#include "host/control/http.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* --- reading -------------------------------------------------------------------------------- */

void http_message_init_request(struct http_message *message)
{
    http1_request_init(&message->head, HTTP_TARGET_MAX, HTTP_REQUEST_MAX);
    message->size = 0;
}

void http_message_init_answer(struct http_message *message)
{
    http1_answer_init(&message->head, HTTP_REQUEST_MAX);
    message->size = 0;
}

enum http1_result http_message_read(struct http_message *message, const char *bytes, size_t size,
                                    size_t *out_used)
{
    size_t before = message->size, room = sizeof message->text - before;
    enum http1_result result;

    *out_used = size < room ? size : room;
    memcpy(message->text + before, bytes, *out_used);
    message->size += *out_used;
    result = http1_head_read(&message->head, message->text, message->size);
    if (result == HTTP1_DONE) {
        *out_used = message->head.size - before;
        message->size = message->head.size;
        http1_body_init(&message->body, &message->head);
    }
    return result;
}

void http_reading_init(struct http_reading *reading)
{
    memset(reading, 0, sizeof *reading);
    http_message_init_request(&reading->message);
}

void http_reading_finish(struct http_reading *reading)
{
    free(reading->body);
    reading->body = NULL;
}

static enum http_progress refuse(struct http_reading *reading, unsigned status, const char *problem)
{
    reading->status = status;
    reading->problem = problem;
    return HTTP_REFUSED;
}

static enum http_progress refuse_result(struct http_reading *reading, enum http1_result result)
{
    return refuse(reading, http1_status(result), http1_words(result));
}

static bool grow_body(struct http_reading *reading, size_t size)
{
    size_t capacity = 2 * size < HTTP_BODY_MAX ? 2 * size : HTTP_BODY_MAX;
    char *body;

    if (size <= reading->body_capacity)
        return true;
    body = realloc(reading->body, capacity);
    if (!body)
        return false;
    reading->body = body;
    reading->body_capacity = capacity;
    return true;
}

static enum http_progress add_to_body(struct http_reading *reading, const struct http1_piece *piece)
{
    if (piece->size == 0)
        return HTTP_MORE;
    if (piece->size > HTTP_BODY_MAX - reading->body_size)
        return refuse_result(reading, HTTP1_LENGTH_SIZE);
    if (!grow_body(reading, reading->body_size + piece->size))
        return refuse(reading, HTTP_STATUS_SERVICE_UNAVAILABLE, "memory is out");
    memcpy(reading->body + reading->body_size, piece->data, piece->size);
    reading->body_size += piece->size;
    return HTTP_MORE;
}

/* Bytes after the request are ignored: a connection has one request. */
static enum http_progress read_body(struct http_reading *reading, const char *bytes, size_t size)
{
    struct http1_body *body = &reading->message.body;
    enum http_progress progress = HTTP_MORE;

    while (progress == HTTP_MORE && body->result == HTTP1_MORE && size > 0) {
        struct http1_piece piece;

        (void)http1_body_read(body, bytes, size, &piece);
        progress = add_to_body(reading, &piece);
        bytes += piece.used;
        size -= piece.used;
    }
    if (progress != HTTP_MORE || body->result == HTTP1_MORE)
        return progress;
    return body->result == HTTP1_DONE ? HTTP_COMPLETE : refuse_result(reading, body->result);
}

/* The size that the head announces is refused before the body arrives. */
static enum http_progress read_behind_head(struct http_reading *reading, const char *bytes,
                                           size_t size)
{
    const struct http1_head *head = &reading->message.head;
    enum http_progress progress;

    if (head->length > HTTP_BODY_MAX)
        return refuse_result(reading, HTTP1_LENGTH_SIZE);
    progress = read_body(reading, bytes, size);
    reading->may_continue = progress == HTTP_MORE && size == 0 && head->expects_continue;
    return progress;
}

enum http_progress http_read(struct http_reading *reading, const char *bytes, size_t size)
{
    enum http1_result result;
    size_t used;

    if (size == 0)
        return refuse(reading, HTTP_STATUS_BAD_REQUEST, "the request is not complete");
    reading->bytes += size;
    if (reading->message.head.reading.result == HTTP1_DONE)
        return read_body(reading, bytes, size);
    result = http_message_read(&reading->message, bytes, size, &used);
    if (result == HTTP1_MORE)
        return HTTP_MORE;
    if (result != HTTP1_DONE)
        return refuse_result(reading, result);
    return read_behind_head(reading, bytes + used, size - used);
}

/* --- taking apart --------------------------------------------------------------------------- */

static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)tolower((unsigned char)c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Unescapes in place; false: a broken escape, or an escaped NUL. */
static bool unescape(char *text)
{
    char *to = text;

    for (; *text; text++) {
        int high, low;

        if (*text != '%') {
            *to++ = *text;
            continue;
        }
        high = digit_of(text[1]);
        low = high < 0 ? -1 : digit_of(text[2]);
        if (low < 0 || (high == 0 && low == 0))
            return false;
        *to++ = (char)(high * 16 + low);
        text += 2;
    }
    *to = '\0';
    return true;
}

static bool is_method(const struct http_message *message, const char *method)
{
    struct http1_span span = message->head.method;

    return strlen(method) == span.size && memcmp(message->text + span.at, method, span.size) == 0;
}

static bool wants_text(const struct http_message *message)
{
    static const char type[] = "text/plain";

    for (uint32_t i = 0; i < message->head.field_count; i++) {
        const struct http1_field *field = &message->head.fields[i];

        if (http1_is_named(field, message->text, "accept") &&
            memmem(message->text + field->value.at, field->value.size, type, sizeof type - 1))
            return true;
    }
    return false;
}

/* The target ends with NUL, in place of the blank before the version. */
static void split_target(struct http_message *message, struct http_request *out)
{
    struct http1_span resource = message->head.resource;
    char *text = message->text + resource.at, *query;

    text[resource.size] = '\0';
    query = strchr(text, '?');
    if (query) {
        *query = '\0';
        out->query = query + 1;
    }
    out->path = text + (text[0] == '/');
}

bool http_take_request(struct http_reading *reading, struct http_request *out)
{
    struct http_message *message = &reading->message;
    bool is_post = is_method(message, "POST");

    if (!is_post && !is_method(message, "GET")) {
        (void)refuse(reading, HTTP_STATUS_METHOD_NOT_ALLOWED, "neither GET nor POST");
        return false;
    }
    *out = (struct http_request){
        .is_post = is_post,
        .wants_text = wants_text(message),
        .body = reading->body,
        .body_size = reading->body_size,
    };
    split_target(message, out);
    if (unescape(out->path))
        return true;
    (void)refuse(reading, HTTP_STATUS_BAD_REQUEST, "the path is not valid");
    return false;
}

const char *http_query(const struct http_request *request, const char *name, char *value,
                       size_t size)
{
    size_t length = strlen(name);

    for (const char *part = request->query; part; part = strchr(part, '&')) {
        part += *part == '&';
        if (strncmp(part, name, length) == 0 && part[length] == '=') {
            size_t end = strcspn(part + length + 1, "&");

            if (end >= size)
                return NULL;
            memcpy(value, part + length + 1, end);
            value[end] = '\0';
            return unescape(value) ? value : NULL;
        }
    }
    return NULL;
}

/* --- writing -------------------------------------------------------------------------------- */

const char *http_status_words(unsigned status)
{
    switch (status) {
#define WORDS(name, number, words)                                                                 \
    case number:                                                                                   \
        return words;
        HTTP_STATUSES(WORDS)
#undef WORDS
    default:
        return "Unknown";
    }
}

void http_write_head(FILE *stream, unsigned status, const char *content_type, size_t size)
{
    fprintf(stream,
            "HTTP/1.1 %u %s\r\n"
            "Content-Type: %s\r\n"
            "Content-Length: %zu\r\n"
            "Cache-Control: no-store\r\n"
            "%s"
            "Connection: close\r\n"
            "\r\n",
            status, http_status_words(status), content_type, size,
            status == HTTP_STATUS_METHOD_NOT_ALLOWED ? "Allow: GET, POST\r\n" : "");
}

void http_write_escaped(FILE *stream, const char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;

        if (isalnum(c) || strchr("-._~/", c))
            (void)fputc(c, stream);
        else
            fprintf(stream, "%%%02X", c);
    }
}
