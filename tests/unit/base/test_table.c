/* SPDX-License-Identifier: MIT */
/*
 * Goal: a table finds the nodes that are in it and no others, after any removals, and also when it
 * has no memory to grow.
 *
 * Method: some thousand nodes with hashes that three of them share; a replacement of calloc
 * (--wrap) that fails when the test says so.
 */
#include "base/table.h"

#include <stdbool.h>
#include <stdlib.h>

#include "unit/host/suite.h"
#include "unit/support/wrapped.h"

#define COUNT 3000u
#define SHARED 3u /* nodes of one hash */

static bool memory_is_out;

void *__wrap_calloc(size_t count, size_t size)
{
    return memory_is_out ? NULL : __real_calloc(count, size);
}

static struct table_node nodes[COUNT];

static uint64_t hash_of(uint32_t number)
{
    return (uint64_t)(number / SHARED) << 32; /* as serials in PIDs of one slot are */
}

static void fill(struct table *table)
{
    for (uint32_t i = 0; i < COUNT; i++)
        table_add(table, &nodes[i], hash_of(i));
}

static uint32_t count_of(const struct table *table, uint64_t hash)
{
    uint32_t count = 0;

    for (struct table_node *node = table_first(table, hash); node; node = table_next(node))
        count += node->hash == hash;
    return count;
}

/* How many hashes have another number of nodes: `even` is right of even ones, `odd` of the rest. */
static uint32_t wrong(const struct table *table, uint32_t even, uint32_t odd)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < COUNT; i += SHARED)
        count += count_of(table, hash_of(i)) != (i / SHARED % 2 ? odd : even);
    return count;
}

static void count(struct table_node *node, void *context)
{
    (void)node;
    ++*(uint32_t *)context;
}

static uint32_t size_of(const struct table *table)
{
    uint32_t size = 0;

    table_each(table, count, &size);
    CU_ASSERT_EQUAL(table_count(table), size);
    return size;
}

static void check_filling_and_removing(void)
{
    struct table table = { .only = NULL };

    fill(&table);
    CU_ASSERT_EQUAL(size_of(&table), COUNT);
    CU_ASSERT_EQUAL(wrong(&table, SHARED, SHARED), 0);
    CU_ASSERT_PTR_NULL(table_first(&table, 1));
    for (uint32_t i = 0; i < COUNT; i++)
        if (i / SHARED % 2)
            table_remove(&table, &nodes[i]);
    table_remove(&table, &nodes[SHARED]); /* a second time */
    CU_ASSERT_EQUAL(size_of(&table), COUNT / 2);
    CU_ASSERT_EQUAL(wrong(&table, SHARED, 0), 0);
    for (uint32_t i = 0; i < COUNT; i++)
        table_remove(&table, &nodes[i]);
    CU_ASSERT_EQUAL(size_of(&table), 0);
    CU_ASSERT_TRUE(table_is_empty(&table)); /* and has given its memory back */
}

static void test_what_is_added_is_found_until_it_is_removed(void)
{
    check_filling_and_removing();
}

static void test_table_without_memory_to_grow_finds_all_the_same(void)
{
    memory_is_out = true;
    check_filling_and_removing();
    memory_is_out = false;
}

static void test_latest_of_a_hash_is_found_first(void)
{
    struct table table = { .only = NULL };

    fill(&table);
    CU_ASSERT_PTR_EQUAL(table_first(&table, hash_of(0)), &nodes[SHARED - 1]);
    (void)table_take_all(&table);
}

static void test_all_are_taken_at_once(void)
{
    struct table table = { .only = NULL };
    uint32_t count = 0;

    fill(&table);
    for (struct table_node *node = table_take_all(&table); node; node = node->next)
        count++;
    CU_ASSERT_EQUAL(count, COUNT);
    CU_ASSERT_TRUE(table_is_empty(&table));
    CU_ASSERT_PTR_NULL(table_first(&table, hash_of(0)));
    table_remove(&table, &nodes[0]); /* in no table any more */
    CU_ASSERT_TRUE(table_is_empty(&table));
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "found", test_what_is_added_is_found_until_it_is_removed },
        { "no memory", test_table_without_memory_to_grow_finds_all_the_same },
        { "latest", test_latest_of_a_hash_is_found_first },
        { "take all", test_all_are_taken_at_once },
        CU_TEST_INFO_NULL,
    };

    return suite_run("table", tests);
}
