/* SPDX-License-Identifier: MIT */
/*
 * control/http.h - reads and writes HTTP/1.1 for the control socket.
 *
 * A connection carries one request and one answer, and is closed then. wire/http1_head.h reads the
 * bytes piece by piece as they arrive; this module sets the limits and keeps what matters.
 *
 * Life: http_reading_init, then http_read until its result is not HTTP_MORE, http_reading_finish.
 * Not synchronised.
 */
#ifndef HOST_CONTROL_HTTP_H
#define HOST_CONTROL_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "wire/http1_body.h"
#include "wire/http1_head.h"

#define HTTP_TARGET_MAX 2048  /* path and query: four times the longest pool path, escaped */
#define HTTP_REQUEST_MAX 8192 /* without its body; a request of ours has less than a tenth of it */
#define HTTP_BODY_MAX (1u << 20) /* a message of `weir send`; no reason for more has come up */

/* The statuses of our answers. */
#define HTTP_STATUSES(X)                                                                           \
    X(OK, 200, "OK")                                                                               \
    X(NO_CONTENT, 204, "No Content")                                                               \
    X(BAD_REQUEST, 400, "Bad Request")                                                             \
    X(FORBIDDEN, 403, "Forbidden")                                                                 \
    X(NOT_FOUND, 404, "Not Found")                                                                 \
    X(METHOD_NOT_ALLOWED, 405, "Method Not Allowed")                                               \
    X(REQUEST_TIMEOUT, 408, "Request Timeout")                                                     \
    X(CONFLICT, 409, "Conflict")                                                                   \
    X(PAYLOAD_TOO_LARGE, 413, "Content Too Large")                                                 \
    X(URI_TOO_LONG, 414, "URI Too Long")                                                           \
    X(EXPECTATION_FAILED, 417, "Expectation Failed")                                               \
    X(UNPROCESSABLE_ENTITY, 422, "Unprocessable Content")                                          \
    X(HEADERS_TOO_LARGE, 431, "Request Header Fields Too Large")                                   \
    X(INTERNAL_SERVER_ERROR, 500, "Internal Server Error")                                         \
    X(NOT_IMPLEMENTED, 501, "Not Implemented")                                                     \
    X(BAD_GATEWAY, 502, "Bad Gateway")                                                             \
    X(SERVICE_UNAVAILABLE, 503, "Service Unavailable")                                             \
    X(GATEWAY_TIMEOUT, 504, "Gateway Timeout")                                                     \
    X(VERSION_NOT_SUPPORTED, 505, "HTTP Version Not Supported")

enum http_status {
#define HTTP_STATUS(name, number, words) HTTP_STATUS_##name = number,
    HTTP_STATUSES(HTTP_STATUS)
#undef HTTP_STATUS
};

/* Static. */
const char *http_status_words(unsigned status);

/* The head of a message in a buffer, and the framing of the body behind it. */
struct http_message {
    struct http1_head head;
    struct http1_body body; /* ready when the head is done */
    char text[HTTP_REQUEST_MAX];
    size_t size; /* of `text` */
};

void http_message_init_request(struct http_message *message);
void http_message_init_answer(struct http_message *message);

/* Reads the head on, and stores in `*out_used` how many of the bytes belong to it. When it is done,
 * those behind them are for http1_body_read. */
enum http1_result http_message_read(struct http_message *message, const char *bytes, size_t size,
                                    size_t *out_used);

enum http_progress {
    HTTP_MORE,
    HTTP_COMPLETE,
    HTTP_REFUSED,
};

struct http_reading {
    struct http_message message;
    size_t bytes;    /* read so far */
    unsigned status; /* of a refusal */
    const char *problem;
    bool may_continue; /* the client waits for `100 Continue` */
    char *body;        /* owned; NULL: none */
    size_t body_size, body_capacity;
};

/* A parsed request. Texts end with NUL and are unescaped. */
struct http_request {
    bool is_post;
    bool wants_text;  /* its Accept names text/plain */
    char *path;       /* without the leading slash; in the reading's text */
    char *query;      /* NULL: there is none */
    const char *body; /* the reading's; NULL: there is none */
    size_t body_size;
};

void http_reading_init(struct http_reading *reading);
/* Frees the body. */
void http_reading_finish(struct http_reading *reading);

/* Reads a piece; size 0: the end of the input. After HTTP_REFUSED, `status` and `problem` say
 * why. */
enum http_progress http_read(struct http_reading *reading, const char *bytes, size_t size);

/* After HTTP_COMPLETE; splits the target into its parts. False: a method or an escape that is not
 * supported; `status` and `problem` say which. */
bool http_take_request(struct http_reading *reading, struct http_request *out);

/* Copies the value of `name` from the query into `value`, unescaped, and returns it; NULL: not
 * there, or longer than `size`. */
const char *http_query(const struct http_request *request, const char *name, char *value,
                       size_t size);

/* Writes the head of an answer whose body has `size` bytes. */
void http_write_head(FILE *stream, unsigned status, const char *content_type, size_t size);

/* Writes `text` escaped for a path or a query. */
void http_write_escaped(FILE *stream, const char *text);

#endif
