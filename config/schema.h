/*
 * config/schema.h - the language as JSON Schema (2020-12), for editors and other programs.
 *
 * Made from the tables of config/language.h and, for behaviours that are given, from theirs. It
 * accepts every file that the checker accepts; it refuses what can be told from a part of the file
 * alone: keys, kinds, bounds of bare numbers, what must be there. What one part says of another
 * (names of pools, cycles), and what stands in texts beyond their form, is the checker's.
 */
#ifndef CONFIG_SCHEMA_H
#define CONFIG_SCHEMA_H

#include <stdio.h>

#include "config/schema_use.h"

/*
 * Writes the schema. Without behaviours any args will do; those of others than the given ones are
 * any map, too. Borrows all; errors are the stream's.
 */
void schema_write(FILE *stream, const struct schema_use *uses, size_t count);

#endif
