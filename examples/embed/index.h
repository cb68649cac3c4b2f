/* SPDX-License-Identifier: MIT */
/*
 * index.h - the actor that collects the packed files, and writes the index at its end.
 */
#ifndef PACK_INDEX_H
#define PACK_INDEX_H

#include <weir/plugin.h>

/*
 * Takes a struct job; emits nothing. Writes `index` into the folder: a line for each file, sorted
 * by name: checksum, size, packed size, name. A backslash in a name is written as two, the end of
 * a line as `\n`.
 */
extern const struct weir_behaviour index_behaviour;

#endif
