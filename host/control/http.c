#include "host/control/http.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* --- reading -------------------------------------------------------------------------------- */

void http_reading_init(struct http_reading *reading)
{
    *reading = (struct http_reading){ 0 };
    http_parser_init(&reading->parser, HTTP_REQUEST);
    reading->parser.data = reading;
}

void http_reading_finish(struct http_reading *reading)
{
    free(reading->body);
    reading->body = NULL;
}

/* Appends to a text of `capacity` bytes with its NUL; false: it does not fit. */
static bool append(char *text, size_t capacity, const char *bytes, size_t size)
{
    size_t used = strlen(text);

    if (size >= capacity - used)
        return false;
    memcpy(text + used, bytes, size);
    text[used + size] = '\0';
    return true;
}

static int on_url(http_parser *parser, const char *bytes, size_t size)
{
    struct http_reading *reading = parser->data;

    if (!append(reading->target, sizeof reading->target, bytes, size))
        reading->is_cut = true;
    return reading->is_cut;
}

static int on_header_field(http_parser *parser, const char *bytes, size_t size)
{
    struct http_reading *reading = parser->data;

    if (reading->in_value)
        reading->field[0] = '\0';
    reading->in_value = false;
    /* Such a long name is none of those that matter. */
    if (!append(reading->field, sizeof reading->field, bytes, size))
        reading->field[0] = '?';
    return 0;
}

static int on_header_value(http_parser *parser, const char *bytes, size_t size)
{
    struct http_reading *reading = parser->data;

    reading->in_value = true;
    if (strcasecmp(reading->field, "accept") == 0)
        (void)append(reading->accept, sizeof reading->accept, bytes, size);
    return 0;
}

/* The size that the head announces is refused before the body arrives. */
static int on_head(http_parser *parser)
{
    struct http_reading *reading = parser->data;

    if (parser->content_length != UINT64_MAX && parser->content_length > HTTP_BODY_MAX)
        reading->is_cut = true;
    return 0;
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

static int on_body(http_parser *parser, const char *bytes, size_t size)
{
    struct http_reading *reading = parser->data;

    if (size > HTTP_BODY_MAX - reading->body_size)
        reading->is_cut = true;
    if (reading->is_cut || !grow_body(reading, reading->body_size + size))
        return 1;
    memcpy(reading->body + reading->body_size, bytes, size);
    reading->body_size += size;
    return 0;
}

static int on_complete(http_parser *parser)
{
    struct http_reading *reading = parser->data;

    reading->complete = true;
    /* Bytes after the request are ignored: a connection has one request. */
    http_parser_pause(parser, 1);
    return 0;
}

enum http_progress http_read(struct http_reading *reading, const char *bytes, size_t size)
{
    http_parser_settings settings;

    http_parser_settings_init(&settings);
    settings.on_url = on_url;
    settings.on_header_field = on_header_field;
    settings.on_header_value = on_header_value;
    settings.on_headers_complete = on_head;
    settings.on_body = on_body;
    settings.on_message_complete = on_complete;
    reading->bytes += size;
    (void)http_parser_execute(&reading->parser, &settings, bytes, size);
    if (reading->complete)
        return HTTP_COMPLETE;
    if (reading->is_cut || reading->bytes - reading->body_size > HTTP_REQUEST_MAX)
        return HTTP_TOO_LARGE;
    if (HTTP_PARSER_ERRNO(&reading->parser) != HPE_OK || reading->parser.upgrade || size == 0)
        return HTTP_WRONG;
    return HTTP_MORE;
}

const char *http_problem(const struct http_reading *reading)
{
    enum http_errno number = HTTP_PARSER_ERRNO(&reading->parser);

    return number == HPE_OK ? "the request is not complete" : http_errno_description(number);
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

bool http_take_request(struct http_reading *reading, struct http_request *out)
{
    char *query = strchr(reading->target, '?');

    if (reading->parser.method != HTTP_GET && reading->parser.method != HTTP_POST)
        return false;
    *out = (struct http_request){
        .is_post = reading->parser.method == HTTP_POST,
        .wants_text = strstr(reading->accept, "text/plain") != NULL,
        .path = reading->target + 1,
        .body = reading->body,
        .body_size = reading->body_size,
    };
    if (query) {
        *query = '\0';
        out->query = query + 1;
    }
    return reading->target[0] == '/' && unescape(out->path);
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

void http_write_head(FILE *stream, unsigned status, const char *content_type, size_t size)
{
    fprintf(stream,
            "HTTP/1.1 %u %s\r\n"
            "Content-Type: %s\r\n"
            "Content-Length: %zu\r\n"
            "Cache-Control: no-store\r\n"
            "Connection: close\r\n"
            "\r\n",
            status, http_status_str((enum http_status)status), content_type, size);
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
