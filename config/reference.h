/*
 * config/reference.h - the reference of the language for people: every key, what it takes, its
 * default and its help, from the tables of config/language.h.
 *
 * docs/config.md and docs/man/weir.yaml.5 are what this writes; a test compares them.
 */
#ifndef CONFIG_REFERENCE_H
#define CONFIG_REFERENCE_H

#include "config/reference_page.h"

struct language_row;

/* The values of a key, in words: `integer 0..1000`, `path of a pool, required`; "" for a
 * section. Cut at `size`. */
void reference_takes(const struct language_row *row, char *text, size_t size);

/* Writes the whole reference. Borrows the stream, whose errors are its owner's to ask for. */
void reference_write(FILE *stream, enum page_form form);

#endif
