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

/* Ends the head, and sends. */
static void end(struct text *text, struct exchange *exchange, const char *body, size_t size)
{
    struct connection *connection = exchange->connection;

    if (exchange->status == 205)
        size = 0; /* with a length of 0: RFC 9110, 15.3.6 */
    if (!has_no_body(exchange))
        put_number(text, "Content-Length", size);
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
    if (has_no_body(exchange) || strcmp(exchange->method, "HEAD") == 0)
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

/* One line `name: value` of the reply. Headers of the server's own are left out. False: it is no
 * header. */
static bool add_header(struct text *text, const char *line, uint32_t size)
{
    uint32_t name = http1_skip(line, 0, size, BYTE_TOKEN), value;

    if (name == 0 || name == size || line[name] != ':')
        return false;
    value = http1_skip(line, name + 1, size, BYTE_BLANK);
    if (http1_skip(line, value, size, BYTE_VALUE) != size)
        return false;
    if (is_own(line, name))
        return true;
    put(text, line, name);
    put_words(text, ": ");
    put(text, line + value, size - value);
    put_words(text, "\r\n");
    return true;
}

static void add_headers(struct text *text, struct weir_self *self, const struct http_parts *parts)
{
    const char *line = parts->headers, *end = line + parts->headers_size, *stop;

    for (; (stop = http_line_end(line, end)); line = stop + 1)
        if ((size_t)(stop - line) > SERVER_HEAD_MAX)
            text->is_full = true;
        else if (!add_header(text, line, (uint32_t)(stop - line)))
            weir_log(self, WEIR_LOG_WARNING,
                     "a line in the reply of a worker is no header; it is left out");
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
