/* SPDX-License-Identifier: MIT */
/*
 * unit/wire/http1_outcome.h - reads a request as a server does, and writes down what it is.
 */
#ifndef TESTS_UNIT_WIRE_HTTP1_OUTCOME_H
#define TESTS_UNIT_WIRE_HTTP1_OUTCOME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Which of the bytes 1 to `size` - 1 begin a new piece. */
struct http1_cuts {
    bool (*is_cut)(const void *context, size_t at);
    const void *context;
};

/* The outcome, as http1_table.h says, with NUL; owned. Each piece lies at the end of its memory, so
 * that a sanitizer sees what is read behind it. */
char *http1_outcome(const char *request, size_t size, uint32_t target_max, uint32_t head_max,
                    struct http1_cuts cuts);

#endif
