/* SPDX-License-Identifier: MIT */
/*
 * wire/http1_body.h - reads the body behind a head of HTTP/1.1, of a known length or in chunks.
 *
 * As strict as http1_head.h. Chunk extensions and trailers are checked, bounded and dropped.
 *
 * Life: http1_body_init, then http1_body_read until its result is not HTTP1_MORE. Not synchronised.
 */
#ifndef WIRE_HTTP1_BODY_H
#define WIRE_HTTP1_BODY_H

#include "wire/http1_head.h"

#define HTTP1_EXTRAS_MAX 8192u /* bytes of chunk extensions and trailers of one body */

struct http1_body {
    uint64_t left;   /* bytes of the present chunk, or of the body */
    uint32_t extras; /* bytes of chunk extensions and trailers so far */
    bool is_chunked;
    uint8_t state;
    uint8_t digits; /* of the size of the present chunk */
    enum http1_result result;
};

/* A part of what was given to http1_body_read. */
struct http1_piece {
    size_t used;      /* bytes that belong to the body with its framing */
    const char *data; /* bytes of the body itself, in what was given */
    size_t size;
};

/* The body behind a head that is done. */
void http1_body_init(struct http1_body *body, const struct http1_head *head);

/* Reads on, up to the end of one piece of data. HTTP1_MORE with `used` below `size`: call again
 * with the rest. Borrows until return. */
enum http1_result http1_body_read(struct http1_body *body, const char *bytes, size_t size,
                                  struct http1_piece *out);

#endif
