/* SPDX-License-Identifier: MIT */
/*
 * unit/wire/http1_plain.h - a second reader of requests, by regular expressions: slow and simple.
 */
#ifndef TESTS_UNIT_WIRE_HTTP1_PLAIN_H
#define TESTS_UNIT_WIRE_HTTP1_PLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum http1_plain_state {
    HTTP1_PLAIN_OPEN,     /* without the end of its head, or of a line of its chunks */
    HTTP1_PLAIN_ACCEPTED, /* whole */
    HTTP1_PLAIN_REFUSED,
};

/* What is known of a request. Texts are owned and may be NULL. */
struct http1_plain {
    enum http1_plain_state state;
    char *method, *target, *host, *field_host; /* `host`: that of the target */
    const char *resource;                      /* in `target` */
    char *body;
    size_t body_size, used; /* `used`: bytes of the request */
    bool is_asterisk, is_old, has_length, is_chunked, continues, closes, keeps_alive;
    bool has_head; /* its head is whole and not refused */
    uint64_t length;
};

/* Chunk extensions and trailers have no bound here. The caller calls http1_plain_free. */
struct http1_plain http1_plain_read(const char *request, size_t size, uint32_t target_max,
                                    uint32_t head_max);
void http1_plain_free(struct http1_plain *plain);

/* The outcome as http1_table.h says, with NUL; owned. A refused request is `refused`, without a
 * status, and an open one is `open`: it is not complete, or refused. */
char *http1_plain_outcome(const char *request, size_t size, uint32_t target_max, uint32_t head_max);

/* Whether the outcome of http1_outcome agrees with this one. */
bool http1_plain_agrees(const char *plain, const char *outcome);

#endif
