/* SPDX-License-Identifier: MIT */
/*
 * unit/wire/http1_table.h - requests of HTTP/1.1, and what a server makes of them by the RFCs.
 */
#ifndef TESTS_UNIT_WIRE_HTTP1_TABLE_H
#define TESTS_UNIT_WIRE_HTTP1_TABLE_H

#include <stddef.h>

/* The bounds with which the table is read. */
#define HTTP1_TABLE_TARGET_MAX 200u
#define HTTP1_TABLE_HEAD_MAX 1200u

/*
 * The outcome of a request that is accepted is text: the method, the resource (`*` for that of
 * `OPTIONS *`), `@` and the host, then what there is of these: `=` and the body, `continue` (the
 * client waits), `close` (the connection ends behind the answer), `+N` (N bytes follow). That of a
 * refused one is its status, and that of one that is not complete is `more`.
 */
struct http1_row {
    const char *section; /* number of the RFC, and section */
    const char *request; /* may have NUL bytes */
    size_t size;
    const char *outcome;
};

extern const struct http1_row http1_table[];
extern const size_t http1_table_count;

#endif
