/* SPDX-License-Identifier: MIT */
/*
 * config/reference.h - writes the reference of the language from the tables of config/language.h:
 * every key with its values, default and help.
 *
 * Its output is docs/config.md, which a test compares, and weir.yaml(5), which the build writes.
 */
#ifndef CONFIG_REFERENCE_H
#define CONFIG_REFERENCE_H

#include "config/reference_page.h"

struct language_row;

/* Describes the values of a key: `integer 0..1000`, `path of a pool, required`; "" for a section.
 * Truncated at `size`. */
void reference_takes(const struct language_row *row, char *text, size_t size);

/* Writes the whole reference. Borrows the stream; its owner checks it for errors. */
void reference_write(FILE *stream, enum page_form form);

#endif
