/* SPDX-License-Identifier: MIT */
/*
 * config/schema.h - writes the language as JSON Schema (2020-12), for editors and other programs.
 *
 * It is made from the tables of config/language.h and from those of the given behaviours. It
 * accepts every file that the checker accepts. It refuses mistakes that show in a part of the file
 * alone: keys, kinds, bounds of bare numbers, missing keys. The checker alone finds mistakes
 * between parts (names of pools, cycles) and inside texts.
 */
#ifndef CONFIG_SCHEMA_H
#define CONFIG_SCHEMA_H

#include <stdio.h>

#include "config/schema_use.h"

/*
 * Writes the schema. `args` of a behaviour that is not given may be any map. Borrows all; the owner
 * of the stream checks it for errors.
 */
void schema_write(FILE *stream, const struct schema_use *uses, size_t count);

#endif
