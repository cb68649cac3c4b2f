/* SPDX-License-Identifier: MIT */
/*
 * wire/http1_target.h - the target of a request and its host: RFC 9112, 3.2.
 */
#ifndef WIRE_HTTP1_TARGET_H
#define WIRE_HTTP1_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of the text that was read. */
struct http1_span {
    uint32_t at, size;
};

struct http1_target {
    struct http1_span host;     /* with its port; empty when the target has none */
    struct http1_span resource; /* path and query; without a path when it does not begin with '/' */
    bool is_asterisk;           /* that of `OPTIONS *` */
};

/* Whether the text is `host [":" port]`, and the host not empty. */
bool http1_is_host(const char *text, size_t size);

/* Takes a target apart, whose bytes are all visible. False: it is not valid for the method. */
bool http1_take_target(const char *text, struct http1_span method, struct http1_span target,
                       struct http1_target *out);

#endif
