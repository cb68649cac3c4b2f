/* SPDX-License-Identifier: MIT */
/*
 * wire/http1_bytes.h - the sets of bytes in the grammar of HTTP/1.1.
 *
 * Nothing depends on a locale.
 */
#ifndef WIRE_HTTP1_BYTES_H
#define WIRE_HTTP1_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    BYTE_TOKEN = 1 << 0,   /* RFC 9110, 5.6.2 */
    BYTE_VISIBLE = 1 << 1, /* of a target: all of ASCII that is visible, but '#' */
    BYTE_VALUE = 1 << 2,   /* of a header: visible, blank, or not ASCII */
    BYTE_BLANK = 1 << 3,
    BYTE_HEX = 1 << 4,
    BYTE_DIGIT = 1 << 5,
    BYTE_NAME = 1 << 6, /* of a host, without '%': RFC 3986, 3.2.2 */
};

/* The sets of each byte. */
extern const uint8_t http1_bytes[256];

static inline bool http1_is_in(char byte, unsigned set)
{
    return (http1_bytes[(uint8_t)byte] & set) != 0;
}

/* The index of the first byte from `at` on that is not in `set`; `end`: all are. */
static inline uint32_t http1_skip(const char *text, uint32_t at, size_t end, unsigned set)
{
    while (at < end && http1_is_in(text[at], set))
        at++;
    return at;
}

#endif
