/*
 * control/http.h - one request or answer of HTTP/1.1, as the control socket speaks it.
 *
 * A connection carries one request and one answer, and is closed then. The reading is done by
 * http_parser, piece by piece, as the bytes come; here stand the bounds, and what is kept.
 *
 * Life: http_reading_init, then http_read until it answers something. Not synchronised.
 */
#ifndef HOST_CONTROL_HTTP_H
#define HOST_CONTROL_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <http_parser.h>

#define HTTP_TARGET_MAX 2048  /* path and query: four times the longest pool path, escaped */
#define HTTP_REQUEST_MAX 8192 /* all of a request: no request that we know has a tenth of it */

enum http_progress {
    HTTP_MORE,
    HTTP_COMPLETE,
    HTTP_TOO_LARGE,
    HTTP_WRONG,
};

struct http_reading {
    http_parser parser;
    size_t bytes; /* read so far */
    char target[HTTP_TARGET_MAX];
    size_t target_size;
    bool target_cut;
    bool complete;
    bool in_value;  /* of a header; else in its name */
    char field[16]; /* its name, as far as it matters */
    char accept[64];
};

/* A parsed request. Texts end with NUL and are unescaped. */
struct http_request {
    bool is_post;
    bool wants_text; /* its Accept names text/plain */
    char *path;      /* without the slash at its beginning; in the reading's `target` */
    char *query;     /* NULL: there is none */
};

void http_reading_init(struct http_reading *reading);

/* Reads a piece; size 0: there is no more. */
enum http_progress http_read(struct http_reading *reading, const char *bytes, size_t size);

/* The mistake of the request, in words. Static. */
const char *http_problem(const struct http_reading *reading);

/* After HTTP_COMPLETE; takes `target` apart. False: its method or escapes are not ours. */
bool http_take_request(struct http_reading *reading, struct http_request *out);

/* The value of `name` in the query, unescaped into `value`, and answered; NULL: not there, or
 * longer than `size`. */
const char *http_query(const struct http_request *request, const char *name, char *value,
                       size_t size);

/* Writes the head of an answer whose body has `size` bytes. */
void http_write_head(FILE *stream, unsigned status, const char *content_type, size_t size);

/* Writes `text` so that it can be part of a path or a query. */
void http_write_escaped(FILE *stream, const char *text);

#endif
