/*
 * base/table.h - an intrusive hash table that grows by itself; its owner owns the nodes.
 *
 * Adding cannot fail: a table that finds no memory to grow keeps its longer chains. Adding, finding
 * and removing cost the same however many nodes there are. The caller gives each node a hash and
 * compares the keys of the nodes with that hash. An empty table has no memory and needs no end. Do
 * not move a table. Not synchronised.
 */
#ifndef BASE_TABLE_H
#define BASE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct table_node {
    struct table_node *next;
    struct table_node **link; /* what points at this node; NULL = it is in no table */
    uint64_t hash;
};

/* All zero is an empty table: one word, since a host may have a million of them. */
struct table {
    union {
        struct table_node *only; /* the one chain of a table that has not grown */
        uintptr_t grown;         /* else: the address of its chains, and the lowest bit */
    };
};

#define TABLE_ENTRY(node, type, field) ((type *)(void *)((char *)(node)-offsetof(type, field)))

static inline bool table_is_empty(const struct table *table)
{
    return !table->only;
}

/* Later nodes of the same hash are found before earlier ones. */
void table_add(struct table *table, struct table_node *node, uint64_t hash);

/* Nothing happens when the node is in no table. */
void table_remove(struct table *table, struct table_node *node);

/* The nodes of a hash, one after the other; NULL: no more. */
struct table_node *table_first(const struct table *table, uint64_t hash);
struct table_node *table_next(const struct table_node *node);

/* Walks over the nodes of a table that has not grown. */
uint32_t table_count(const struct table *table);

/* Calls it for each node, which stays where it is. */
void table_each(const struct table *table, void (*visit)(struct table_node *node, void *context),
                void *context);

/* Empties the table; the nodes are linked by `next`. */
struct table_node *table_take_all(struct table *table);

#endif
