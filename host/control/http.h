/*
 * control/http.h - reads and writes HTTP/1.1 for the control socket.
 *
 * A connection carries one request and one answer, and is closed then. http_parser reads the bytes
 * piece by piece as they arrive; this module sets the limits and keeps the fields that matter.
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

#include <http_parser.h>

#define HTTP_TARGET_MAX 2048  /* path and query: four times the longest pool path, escaped */
#define HTTP_REQUEST_MAX 8192 /* without its body; a request of ours has less than a tenth of it */
#define HTTP_BODY_MAX (1u << 20) /* a message of `weir send`; no reason for more has come up */

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
    bool is_cut; /* the target or the body is larger than its bound */
    bool complete;
    char *body; /* owned; NULL: none */
    size_t body_size, body_capacity;
    bool in_value;  /* of a header; else in its name */
    char field[16]; /* its name, truncated */
    char accept[64];
};

/* A parsed request. Texts end with NUL and are unescaped. */
struct http_request {
    bool is_post;
    bool wants_text;  /* its Accept names text/plain */
    char *path;       /* without the leading slash; in the reading's `target` */
    char *query;      /* NULL: there is none */
    const char *body; /* the reading's; NULL: there is none */
    size_t body_size;
};

void http_reading_init(struct http_reading *reading);
/* Frees the body. */
void http_reading_finish(struct http_reading *reading);

/* Reads a piece; size 0: the end of the input. */
enum http_progress http_read(struct http_reading *reading, const char *bytes, size_t size);

/* The mistake of the request, in words. Static. */
const char *http_problem(const struct http_reading *reading);

/* After HTTP_COMPLETE; splits `target` into its parts. False: a method or an escape that is not
 * supported. */
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
