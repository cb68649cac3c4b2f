/* SPDX-License-Identifier: MIT */
/*
 * base/table.h - an intrusive hash table that grows by itself; its owner owns the nodes.
 *
 * Adding cannot fail: without memory the table keeps longer chains instead of growing. The cost of
 * adding, finding and removing does not depend on the number of nodes. The caller gives each node a
 * hash and compares the keys of the nodes with that hash. An empty table has no memory and needs no
 * end. Do not move a table. Not synchronised.
 */
#ifndef BASE_TABLE_H
#define BASE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct table_node {
    struct table_node *next;
    struct table_node **link; /* the pointer to this node; NULL = it is in no table */
    uint64_t hash;
};

/* All zeros is an empty table: a single word, since a host may have a million of them. */
struct table {
    union {
        struct table_node *only; /* the one chain of a table that has not grown */
        uintptr_t grown;         /* else: the address of its chains, with the lowest bit set */
    };
};

#define TABLE_ENTRY(node, type, field) ((type *)(void *)((char *)(node)-offsetof(type, field)))

static inline bool table_is_empty(const struct table *table)
{
    return !table->only;
}

/* A lookup finds later nodes of a hash before earlier ones. */
void table_add(struct table *table, struct table_node *node, uint64_t hash);

/* Does nothing when the node is in no table. */
void table_remove(struct table *table, struct table_node *node);

/* The nodes of a hash, one after the other; NULL: no more. */
struct table_node *table_first(const struct table *table, uint64_t hash);
struct table_node *table_next(const struct table_node *node);

/* Visits the nodes of a table that has not grown. */
uint32_t table_count(const struct table *table);

/* Calls `visit` for each node, and leaves it in the table. */
void table_each(const struct table *table, void (*visit)(struct table_node *node, void *context),
                void *context);

/* Empties the table; the nodes are linked by `next`. */
struct table_node *table_take_all(struct table *table);

#endif
