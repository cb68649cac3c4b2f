/* SPDX-License-Identifier: MIT */
#include "answer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "connection_output.h"
#include "http.h"
#include "wire/http1_bytes.h"

#define DETAIL_MAX 256u
#define LENGTH_MAX 19u /* digits */
#define SHOWN_MAX 60u  /* of a wrong line, in the log */

/* Headers that the server itself writes, and those of one connection (RFC 9110, 7.6.1). */
static const char *const own_headers[] = {
    "connection", "content-length",    "date",    "keep-alive", "proxy-connection",
    "te",         "transfer-encoding", "trailer", "upgrade",    NULL,
};

static const struct phrase {
    unsigned status;
    const char *words;
} phrases[] = {
    { 200, "OK" },
    { 201, "Created" },
    { 202, "Accepted" },
    { 204, "No Content" },
    { 206, "Partial Content" },
    { 301, "Moved Permanently" },
    { 302, "Found" },
    { 303, "See Other" },
    { 304, "Not Modified" },
    { 307, "Temporary Redirect" },
    { 308, "Permanent Redirect" },
    { 400, "Bad Request" },
    { 401, "Unauthorized" },
    { 403, "Forbidden" },
    { 404, "Not Found" },
    { 405, "Method Not Allowed" },
    { 408, "Request Timeout" },
    { 409, "Conflict" },
    { 410, "Gone" },
    { 413, "Content Too Large" },
    { 414, "URI Too Long" },
    { 415, "Unsupported Media Type" },
    { 417, "Expectation Failed" },
    { 422, "Unprocessable Content" },
    { 429, "Too Many Requests" },
    { 431, "Request Header Fields Too Large" },
    { 500, "Internal Server Error" },
    { 501, "Not Implemented" },
    { 502, "Bad Gateway" },
    { 503, "Service Unavailable" },
    { 504, "Gateway Timeout" },
    { 505, "HTTP Version Not Supported" },
};

/* RFC 9112, 4: the phrase may be empty. */
static const char *phrase_of(unsigned status)
{
    for (size_t i = 0; i < sizeof phrases / sizeof phrases[0]; i++)
        if (phrases[i].status == status)
            return phrases[i].words;
    return "";
}

/* --- heads ------------------------------------------------------------------------------------ */

/* A head while it is written. */
struct text {
    char *to; /* of SERVER_HEAD_MAX bytes */
    size_t size;
    bool is_full;
    char length[LENGTH_MAX + 1]; /* what the worker says of the body that HEAD does not get */
};

static void put(struct text *text, const char *data, size_t size)
{
    if (size > SERVER_HEAD_MAX - text->size) {
        text->is_full = true;
        return;
    }
    memcpy(text->to + text->size, data, size);
    text->size += size;
}

static void put_words(struct text *text, const char *words)
{
    put(text, words, strlen(words));
}

static void put_header(struct text *text, const char *name, const char *value)
{
    put_words(text, name);
    put_words(text, ": ");
    put_words(text, value);
    put_words(text, "\r\n");
}

static void put_number(struct text *text, const char *name, uint64_t number)
{
    char digits[24];

    (void)snprintf(digits, sizeof digits, "%llu", (unsigned long long)number);
    put_header(text, name, digits);
}

/* Written once a second. */
static void put_date(struct text *text, struct server *server)
{
    struct timespec now;
    struct tm utc;

    (void)clock_gettime(CLOCK_REALTIME_COARSE, &now);
    if (now.tv_sec != server->date_of && gmtime_r(&now.tv_sec, &utc)) {
        server->date_of = now.tv_sec;
        (void)strftime(server->date, sizeof server->date, "%a, %d %b %Y %H:%M:%S GMT", &utc);
    }
    put_header(text, "Date", server->date);
}

static void begin(struct text *text, struct exchange *exchange, unsigned status)
{
    struct server *server = exchange->connection->server;
    char line[32];

    *text = (struct text){ .to = server->head };
    exchange->status = status;
    (void)snprintf(line, sizeof line, "HTTP/1.1 %u ", status);
    put_words(text, line);
    put_words(text, phrase_of(status));
    put_words(text, "\r\n");
    put_date(text, server);
}

static bool has_no_body(const struct exchange *exchange)
{
    return exchange->status == 204 || exchange->status == 304;
}

static bool is_head(const struct exchange *exchange)
{
    return strcmp(exchange->method, "HEAD") == 0;
}

/* HEAD gets the length that GET would get, or none: RFC 9110, 8.6. */
static void put_length(struct text *text, const struct exchange *exchange, size_t size)
{
    if (has_no_body(exchange))
        return;
    if (size > 0 || !is_head(exchange))
        put_number(text, "Content-Length", size);
    else if (text->length[0])
        put_header(text, "Content-Length", text->length);
}

/* Ends the head, and sends. */
static void end(struct text *text, struct exchange *exchange, const char *body, size_t size)
{
    struct connection *connection = exchange->connection;

    if (exchange->status == 205)
        size = 0; /* with a length of 0: RFC 9110, 15.3.6 */
    put_length(text, exchange, size);
    if (connection->closes)
        put_words(text, "Connection: close\r\n");
    else if (connection->receipt && connection->receipt->head.minor == 0)
        put_words(text, "Connection: keep-alive\r\n");
    put_words(text, "\r\n");
    if (text->is_full) {
        weir_log(connection->server->self, WEIR_LOG_WARNING,
                 "the reply of a worker has too many headers; the client gets 500");
        answer_text(exchange, 500, "the headers of the reply are too large");
        return;
    }
    if (has_no_body(exchange) || is_head(exchange))
        size = 0;
    exchange->answer_size = size;
    connection_send(connection, text->to, text->size, body, size);
}

void answer_text(struct exchange *exchange, unsigned status, const char *words)
{
    struct server *server = exchange->connection->server;
    char line[DETAIL_MAX + 2];
    int size = snprintf(line, sizeof line, "%.*s\n", (int)DETAIL_MAX, words);
    struct text text;

    begin(&text, exchange, status);
    put_header(&text, "Content-Type", "text/plain; charset=utf-8");
    if (status == 401)
        put_header(&text, "WWW-Authenticate", "Bearer");
    if (status == 503) { /* whole seconds, rounded up */
        put_number(&text, "Retry-After", (server->settings->retry_after + 999) / 1000);
        server->figures.refused++;
    }
    end(&text, exchange, line, (size_t)size);
}

/* --- replies of workers ----------------------------------------------------------------------- */

static bool is_own(const char *name, size_t size)
{
    for (size_t i = 0; own_headers[i]; i++)
        if (strlen(own_headers[i]) == size && strncasecmp(own_headers[i], name, size) == 0)
            return true;
    return false;
}

/* A line `name: value` of the reply. */
struct line {
    const char *text;
    uint32_t size, name, value; /* `name`: its size; `value`: where it begins */
};

/* False: the line is no header. */
static bool split(const char *text, uint32_t size, struct line *out)
{
    out->text = text;
    out->size = size;
    out->name = http1_skip(text, 0, size, BYTE_TOKEN);
    if (out->name == 0 || out->name == size || text[out->name] != ':')
        return false;
    out->value = http1_skip(text, out->name + 1, size, BYTE_BLANK);
    return http1_skip(text, out->value, size, BYTE_VALUE) == size;
}

static bool is_named(const struct line *line, const char *name)
{
    return strlen(name) == line->name && strncasecmp(line->text, name, line->name) == 0;
}

/* The next line of the headers of a reply that is a header. False: there is none. */
static bool next_line(const struct http_parts *parts, const char **at, struct line *out)
{
    const char *end = parts->headers + parts->headers_size, *stop;

    while ((stop = http_line_end(*at, end))) {
        const char *begin = *at;

        *at = stop + 1;
        if ((size_t)(stop - begin) <= SERVER_HEAD_MAX &&
            split(begin, (uint32_t)(stop - begin), out))
            return true;
    }
    return false;
}

/* Whether a list with commas has this word. */
static bool lists(const struct line *list, const char *word, size_t size)
{
    uint32_t at = list->value;

    while (at < list->size) {
        uint32_t begin = http1_skip(list->text, at, list->size, BYTE_BLANK);
        uint32_t end = http1_skip(list->text, begin, list->size, BYTE_TOKEN);

        if (end - begin == size && strncasecmp(list->text + begin, word, size) == 0)
            return true;
        at = end + 1; /* behind a comma, or a byte that belongs to no word */
    }
    return false;
}

/* Headers of one connection that `Connection` names: RFC 9110, 7.6.1. */
static bool is_of_connection(const struct http_parts *parts, const struct line *line)
{
    const char *at = parts->headers;
    struct line other;

    while (next_line(parts, &at, &other))
        if (is_named(&other, "connection") && lists(&other, line->text, line->name))
            return true;
    return false;
}

static void keep_length(struct text *text, const struct line *line)
{
    uint32_t size = line->size - line->value;

    if (size <= LENGTH_MAX && size > 0 &&
        http1_skip(line->text, line->value, line->size, BYTE_DIGIT) == line->size) {
        memcpy(text->length, line->text + line->value, size);
        text->length[size] = '\0';
    }
}

static void add_header(struct text *text, const struct line *line)
{
    put(text, line->text, line->name);
    put_words(text, ": ");
    put(text, line->text + line->value, line->size - line->value);
    put_words(text, "\r\n");
}

static void report_line(struct weir_self *self, const char *line, size_t size)
{
    char shown[SHOWN_MAX + 1];

    (void)snprintf(shown, sizeof shown, "%.*s", (int)(size < SHOWN_MAX ? size : SHOWN_MAX), line);
    weir_log(self, WEIR_LOG_WARNING, "a line in the reply of a worker is no header; it is left out",
             weir_str("line", shown));
}

/* Headers of the server's own, and those of one connection, are left out. */
static void add_headers(struct text *text, struct weir_self *self, const struct http_parts *parts)
{
    const char *at = parts->headers, *end = at + parts->headers_size, *stop;
    struct line line, connection;
    bool has_connection = false;

    while (!has_connection && next_line(parts, &at, &connection))
        has_connection = is_named(&connection, "connection");
    for (at = parts->headers; (stop = http_line_end(at, end)); at = stop + 1)
        if ((size_t)(stop - at) > SERVER_HEAD_MAX)
            text->is_full = true;
        else if (!split(at, (uint32_t)(stop - at), &line))
            report_line(self, at, (size_t)(stop - at));
        else if (is_named(&line, "content-length"))
            keep_length(text, &line);
        else if (!is_own(line.text, line.name) &&
                 !(has_connection && is_of_connection(parts, &line)))
            add_header(text, &line);
}

/* A status from 200 to 599; 0: the line is none. */
static unsigned status_of(const struct http_parts *parts)
{
    unsigned status = 0;

    if (parts->line_size != 3)
        return 0;
    for (size_t i = 0; i < 3; i++) {
        if (parts->line[i] < '0' || parts->line[i] > '9')
            return 0;
        status = status * 10 + (unsigned)(parts->line[i] - '0');
    }
    return status >= 200 && status <= 599 ? status : 0;
}

static void answer_parts(struct exchange *exchange, const struct weir_message *message)
{
    struct http_parts parts;
    unsigned status = http_parts_read(message->data, message->size, &parts) ? status_of(&parts) : 0;
    struct text text;

    if (!status) {
        answer_text(exchange, 502, "the worker's reply is not valid");
        return;
    }
    begin(&text, exchange, status);
    add_headers(&text, exchange->connection->server->self, &parts);
    end(&text, exchange, parts.body, parts.body_size);
}

static void answer_bytes(struct exchange *exchange, unsigned status, const void *data, size_t size)
{
    const struct server_settings *settings = exchange->connection->server->settings;
    struct text text;

    begin(&text, exchange, status);
    if (status == 200)
        put_header(&text, "Content-Type", settings->content_type);
    end(&text, exchange, data, size);
}

void answer_reply(struct exchange *exchange, const struct weir_reply *reply)
{
    const struct server *server = exchange->connection->server;

    switch (reply->status) {
    case 0:
        if (reply->message->tag == server->response_tag)
            answer_parts(exchange, reply->message);
        else
            answer_bytes(exchange, 200, reply->message->data, reply->message->size);
        break;
    case WEIR_ENOREPLY:
        answer_bytes(exchange, 204, "", 0);
        break;
    case WEIR_EREJECTED:
        answer_text(exchange, 422,
                    reply->detail[0] ? reply->detail : "the worker rejected the request");
        break;
    case WEIR_ETIMEOUT:
        answer_text(exchange, 504, "no answer in time");
        break;
    case WEIR_ECRASHED:
    case WEIR_EREMOVED:
    case WEIR_ETERMINATED:
        answer_text(exchange, 502, weir_status_text(reply->status));
        break;
    default:
        answer_text(exchange, 503, weir_status_text(reply->status));
    }
}

void answer_refusal(struct exchange *exchange, int status)
{
    if (status == WEIR_EINVALID)
        answer_text(exchange, 413, "the pool refuses this request");
    else
        answer_text(exchange, 503, weir_status_text(status));
}
