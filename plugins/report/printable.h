/* SPDX-License-Identifier: MIT */
/*
 * printable.h - builds lines of text from names with any bytes.
 *
 * Names of files are bytes. Characters that control a terminal (see weir/printable.h), and
 * characters that end a line, are written as an escape: `\n`, `\t`, `\r`, `\\`, else `\xHH`. Other
 * well-formed UTF-8 stays as it is. So a line end ends a line and a tab separates, and `printf
 * '%b'` gives the name back.
 *
 * Life: printable_init .. printable_finish. Not synchronised. When memory is out no more text is
 * added and `failed` stays set until printable_clear.
 */
#ifndef PRINTABLE_H
#define PRINTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct printable {
    char *text; /* owned; `size` bytes, without a NUL */
    size_t size;
    size_t capacity;
    bool failed;
};

void printable_init(struct printable *printable);
/* Legal twice. */
void printable_finish(struct printable *printable);
/* Empties it; its memory is kept for the next line. */
void printable_clear(struct printable *printable);

/* Adds trusted text unchanged. Borrows. */
void printable_add(struct printable *printable, const char *text);
/* Adds blanks until the text has `size` bytes after `start` (a former `size`). */
void printable_pad(struct printable *printable, size_t start, size_t size);
/* Adds a name of any bytes, escaped. Borrows. */
void printable_add_name(struct printable *printable, const char *name, size_t size);
/* Adds a number of bytes in a suitable unit: `512 B`, `3.4 GB`. */
void printable_add_bytes(struct printable *printable, uint64_t bytes);
/* Adds a number. */
void printable_add_number(struct printable *printable, uint64_t number);

#endif
