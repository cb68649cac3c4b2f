/* SPDX-License-Identifier: MIT */
/*
 * table.h - a table of byte strings, each with a number.
 *
 * Life: zeroed memory is an empty table; table_finish frees it. Only table_reserve asks for memory:
 * reserve first to add a whole message or nothing. Not synchronised.
 */
#ifndef TABLE_H
#define TABLE_H

#include <stddef.h>
#include <stdint.h>

struct table_entry {
    const char *bytes; /* owned by the table; NULL = a free slot */
    size_t size;
    uint64_t hash;
    uint64_t value;
};

struct table_chunk;

struct table {
    struct table_entry *slots;
    size_t slot_count; /* a power of two, or 0 */
    size_t count;
    struct table_chunk *chunks; /* the first one has room */
};

void table_finish(struct table *table);

/* Makes room for so many more strings with so many bytes. 0 or WEIR_ENOMEM. */
int table_reserve(struct table *table, size_t count, size_t bytes);

/*
 * The entry of a string; a new one has the value 0. Copies the bytes; a new one needs reserved
 * room. Borrowed until the next table_reserve.
 */
struct table_entry *table_at(struct table *table, const void *bytes, size_t size);

/* All entries, by value from the largest down, then by bytes. Returns owned; NULL: no memory. */
const struct table_entry **table_sorted(const struct table *table);

#endif
