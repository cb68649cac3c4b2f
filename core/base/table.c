/* SPDX-License-Identifier: MIT */
#include "base/table.h"

#include <stdlib.h>

#define CHAIN_MAX 4u /* nodes in the only chain before the table grows */
#define CHAINS_MIN 8u

struct chains {
    uint32_t count; /* of nodes */
    uint32_t mask;
    struct table_node *first[];
};

/* NULL: the table has not grown. */
static struct chains *chains_of(const struct table *table)
{
    return table->grown & 1 ? (struct chains *)(table->grown - 1) : NULL;
}

static struct table_node **chain_of(struct chains *chains, uint64_t hash)
{
    /* The factor is odd and spreads the low bits over the high. */
    return &chains->first[(uint32_t)((hash * 0x9e3779b97f4a7c15ull) >> 32) & chains->mask];
}

static void push(struct table_node **chain, struct table_node *node)
{
    node->next = *chain;
    node->link = chain;
    if (node->next)
        node->next->link = &node->next;
    *chain = node;
}

/* Puts all nodes of a chain in front of `rest`, in reverse order. */
static struct table_node *join(struct table_node *chain, struct table_node *rest)
{
    while (chain) {
        struct table_node *next = chain->next;

        chain->next = rest;
        chain->link = NULL;
        rest = chain;
        chain = next;
    }
    return rest;
}

struct table_node *table_take_all(struct table *table)
{
    struct chains *chains = chains_of(table);
    struct table_node *all = NULL;

    if (chains)
        for (uint32_t i = 0; i <= chains->mask; i++)
            all = join(chains->first[i], all);
    else
        all = join(table->only, NULL);
    free(chains);
    table->only = NULL;
    return all;
}

/* The number of nodes in the only chain, counted up to its limit. */
static uint32_t length_of(const struct table_node *node)
{
    uint32_t length = 0;

    for (; node && length < CHAIN_MAX; node = node->next)
        length++;
    return length;
}

static bool is_crowded(const struct table *table)
{
    const struct chains *chains = chains_of(table);

    if (!chains)
        return length_of(table->only) >= CHAIN_MAX;
    return chains->count > chains->mask && chains->mask < UINT32_MAX / 4;
}

/* Keeps the longer chains when memory is out. */
static void grow(struct table *table)
{
    struct chains *old = chains_of(table);
    uint32_t size = old ? (old->mask + 1) * 2 : CHAINS_MIN;
    struct chains *chains = calloc(1, sizeof *chains + size * sizeof chains->first[0]);
    struct table_node *all, *next;

    if (!chains)
        return;
    chains->mask = size - 1;
    for (all = table_take_all(table); all; all = next) {
        next = all->next;
        push(chain_of(chains, all->hash), all);
        chains->count++;
    }
    table->grown = (uintptr_t)chains + 1;
}

void table_add(struct table *table, struct table_node *node, uint64_t hash)
{
    struct chains *chains;

    if (is_crowded(table))
        grow(table);
    chains = chains_of(table);
    node->hash = hash;
    push(chains ? chain_of(chains, hash) : &table->only, node);
    if (chains)
        chains->count++;
}

void table_remove(struct table *table, struct table_node *node)
{
    struct chains *chains = chains_of(table);

    if (!node->link)
        return;
    *node->link = node->next;
    if (node->next)
        node->next->link = node->link;
    node->link = NULL;
    if (!chains || --chains->count > 0)
        return;
    free(chains);
    table->only = NULL;
}

static struct table_node *with_hash(struct table_node *node, uint64_t hash)
{
    while (node && node->hash != hash)
        node = node->next;
    return node;
}

struct table_node *table_first(const struct table *table, uint64_t hash)
{
    struct chains *chains = chains_of(table);

    return with_hash(chains ? *chain_of(chains, hash) : table->only, hash);
}

struct table_node *table_next(const struct table_node *node)
{
    return with_hash(node->next, node->hash);
}

uint32_t table_count(const struct table *table)
{
    const struct chains *chains = chains_of(table);
    uint32_t count = 0;

    if (chains)
        return chains->count;
    for (const struct table_node *node = table->only; node; node = node->next)
        count++;
    return count;
}

void table_each(const struct table *table, void (*visit)(struct table_node *node, void *context),
                void *context)
{
    const struct chains *chains = chains_of(table);
    uint32_t last = chains ? chains->mask : 0;

    for (uint32_t i = 0; i <= last; i++)
        for (struct table_node *node = chains ? chains->first[i] : table->only; node;
             node = node->next)
            visit(node, context);
}
