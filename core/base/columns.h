/* SPDX-License-Identifier: MIT */
/*
 * base/columns.h - cells and lines of tables for people: each has a bounded width.
 *
 * A width is a number of characters of UTF-8, each one column of the terminal. No function here is
 * synchronised.
 */
#ifndef BASE_COLUMNS_H
#define BASE_COLUMNS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define COLUMNS_PAGE 100 /* the width of a page: fits beside the margin of a log or a ticket */
#define COLUMNS_CELL 16  /* bytes that hold any number, size or age, with its end */

/* At most 5 columns: exact up to 99999, then three digits with k, M, G, T, P or E (thousands),
 * rounded down. Truncated at `size`, as below. */
void columns_count(uint64_t count, char *text, size_t size);

/* At most 6 columns: `512B`, `1.5MiB`, `734MiB`; rounded down. */
void columns_size(uint64_t bytes, char *text, size_t size);

/* At most 6 columns up to 270 years: `999ms`, `12.3s`, `59m59s`, `23h59m`, `99d23h`, `1234d`;
 * rounded down. */
void columns_age(uint64_t milliseconds, char *text, size_t size);

/* The number of columns of a text. */
size_t columns_width(const char *text);

/* Copies a text, at most `width` columns of it: a longer one has `…` in place of its middle.
 * `width` is at least 1. Truncated at `size`: 4 bytes for each column, and one, are enough. */
void columns_cut(const char *text, size_t width, char *out, size_t size);

/* Writes a text, and breaks each line that is wider than a page at a blank, or, without one,
 * within a word; what follows is indented. */
void columns_fold(const char *text, FILE *stream);

#endif
