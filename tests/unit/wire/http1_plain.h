/*
 * unit/wire/http1_plain.h - a second reader of requests, by regular expressions: slow and simple.
 */
#ifndef TESTS_UNIT_WIRE_HTTP1_PLAIN_H
#define TESTS_UNIT_WIRE_HTTP1_PLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The outcome as http1_table.h says, with NUL; owned. A refused request is `refused`, without a
 * status, and one without the end of its head, or of a line of its chunks, is `open`: it is not
 * complete, or refused. Chunk extensions and trailers have no bound here. */
char *http1_plain_outcome(const char *request, size_t size, uint32_t target_max, uint32_t head_max);

/* Whether the outcome of http1_outcome agrees with this one. */
bool http1_plain_agrees(const char *plain, const char *outcome);

#endif
