#include "base/table.h"

#include <stdlib.h>

#define CHAIN_MAX 4u /* nodes in one chain before the table gets buckets */
#define BUCKETS_MIN 8u

static struct table_node **chain_of(struct table *table, uint64_t hash)
{
    /* The factor is odd and spreads the low bits over the high. */
    uint32_t spread = (uint32_t)((hash * 0x9e3779b97f4a7c15ull) >> 32);

    return table->mask ? &table->buckets[spread & table->mask] : &table->only;
}

static void push(struct table_node **chain, struct table_node *node)
{
    node->next = *chain;
    node->link = chain;
    if (node->next)
        node->next->link = &node->next;
    *chain = node;
}

/* All nodes of a chain in front of `rest`. */
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
    struct table_node *all = NULL;

    if (table->mask == 0) {
        all = join(table->only, NULL);
    } else {
        for (uint32_t i = 0; i <= table->mask; i++)
            all = join(table->buckets[i], all);
        free(table->buckets);
    }
    *table = (struct table){ .mask = 0 };
    return all;
}

/* Without memory for more buckets the chains grow. */
static void grow(struct table *table)
{
    uint32_t count = table->count;
    uint32_t size = table->mask ? (table->mask + 1) * 2 : BUCKETS_MIN;
    struct table_node **buckets = calloc(size, sizeof(struct table_node *));
    struct table_node *all, *next;

    if (!buckets)
        return;
    all = table_take_all(table);
    *table = (struct table){ .buckets = buckets, .count = count, .mask = size - 1 };
    for (; all; all = next) {
        next = all->next;
        push(chain_of(table, all->hash), all);
    }
}

void table_add(struct table *table, struct table_node *node, uint64_t hash)
{
    if (table->count >= (table->mask ? table->mask + 1 : CHAIN_MAX) && table->mask < UINT32_MAX / 2)
        grow(table);
    node->hash = hash;
    push(chain_of(table, hash), node);
    table->count++;
}

void table_remove(struct table *table, struct table_node *node)
{
    if (!node->link)
        return;
    *node->link = node->next;
    if (node->next)
        node->next->link = node->link;
    node->link = NULL;
    if (--table->count == 0)
        (void)table_take_all(table); /* gives the buckets back */
}

static struct table_node *with_hash(struct table_node *node, uint64_t hash)
{
    while (node && node->hash != hash)
        node = node->next;
    return node;
}

struct table_node *table_first(const struct table *table, uint64_t hash)
{
    /* The chain is only read. */
    return with_hash(*chain_of((struct table *)(uintptr_t)table, hash), hash);
}

struct table_node *table_next(const struct table_node *node)
{
    return with_hash(node->next, node->hash);
}
