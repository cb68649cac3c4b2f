/* SPDX-License-Identifier: MIT */
/*
 * wire/http1_head.h - reads the head of a request or an answer of HTTP/1.1.
 *
 * The reader is strict. What RFC 9112 and RFC 9110 tell a recipient to refuse is refused, and so is
 * each message that another reader could understand otherwise; the server then answers with
 * `http1_status` and closes. tests/unit/wire/http1_table.c has a row for each rule, with its
 * section.
 *
 * A message may come in pieces of any size: the result is that of the whole, and each byte is
 * looked at once. Nothing is allocated, and all sizes are bounded.
 *
 * Life: http1_request_init or http1_answer_init, then http1_head_read until its result is not
 * HTTP1_MORE. http1_body.h reads what follows.
 * Not synchronised.
 */
#ifndef WIRE_HTTP1_HEAD_H
#define WIRE_HTTP1_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/http1_result.h"
#include "wire/http1_target.h"

#define HTTP1_METHOD_MAX 16u  /* bytes; the longest registered one for pages of the web has 9 */
#define HTTP1_FIELDS_MAX 100u /* a browser sends some 20; the bound of Apache is 100 */

struct http1_field {
    struct http1_span name, value; /* the value without blanks around it; it may be empty */
};

/* What the reader knows besides the results. */
struct http1_reading {
    uint32_t at; /* bytes read */
    uint32_t target_max, head_max;
    uint8_t state;
    bool is_answer;
    bool has_host, has_coding, is_chunked_last, has_other_coding;
    bool closes, keeps_alive; /* named by Connection */
    enum http1_result result;
};

/* A head. All but `reading` is valid after HTTP1_DONE. */
struct http1_head {
    struct http1_reading reading;
    uint32_t size; /* of the whole head, with its empty line */
    struct http1_span method, target;
    struct http1_span host;     /* with its port; of the target, else of Host; may be empty */
    struct http1_span resource; /* path and query; without a path when it does not begin with '/' */
    unsigned status;            /* of an answer */
    uint8_t minor;              /* of the version 1.x: 0 or 1 */
    bool is_asterisk;           /* the target is that of `OPTIONS *` */
    bool is_chunked, has_length;
    bool keeps;            /* the connection may have another request behind this one */
    bool expects_continue; /* the client waits for `100 Continue` before it sends the body */
    uint64_t length;       /* of the body in bytes, when it is not chunked; 0: there is none */
    uint32_t field_count;
    struct http1_field fields[HTTP1_FIELDS_MAX];
};

/* A target of more than `target_max` bytes, or a head of more than `head_max`, is refused. */
void http1_request_init(struct http1_head *head, uint32_t target_max, uint32_t head_max);
void http1_answer_init(struct http1_head *head, uint32_t head_max);

/* Reads a head on. `text` has all its bytes so far, `size` of them; each call may have it at
 * another address. Bytes behind the head are not touched. Borrows until return; spans count from
 * `text`. */
enum http1_result http1_head_read(struct http1_head *head, const char *text, size_t size);

/* Whether a header has this name, in any case. */
bool http1_is_named(const struct http1_field *field, const char *text, const char *name);

/* Whether the value of a header, a list of words with commas, has this word, in any case. */
bool http1_lists(const struct http1_field *field, const char *text, const char *word);

#endif
