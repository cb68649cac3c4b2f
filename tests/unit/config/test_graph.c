/*
 * Goal: pools close after their feeders, pools of one cycle together, parents before members.
 * Method: files whose outputs make lines, diamonds and cycles; the order is checked edge by edge.
 */
#include <stdlib.h>

#include "config/graph.h"
#include "unit/config/reading.h"
#include "unit/host/suite.h"

#define POOLS_MAX 16

struct ordered {
    struct settings *settings;
    uint32_t order[POOLS_MAX];
    uint32_t groups[POOLS_MAX];
};

static struct ordered order_of(const char *text)
{
    struct ordered ordered = { .settings = reading_settings(text) };

    CU_ASSERT_PTR_NOT_NULL_FATAL(ordered.settings);
    CU_ASSERT_FATAL(ordered.settings->pool_count <= POOLS_MAX);
    CU_ASSERT_EQUAL(graph_output_order(ordered.settings, ordered.order, ordered.groups), WEIR_OK);
    return ordered;
}

static uint32_t position(const struct ordered *ordered, uint32_t pool)
{
    for (uint32_t i = 0; i < ordered->settings->pool_count; i++) {
        if (ordered->order[i] == pool)
            return i;
    }
    CU_FAIL("a pool is missing in the order");
    return 0;
}

/* Every edge leads forward, or stays inside a group. */
static void expect_sorted(const struct ordered *ordered)
{
    for (uint32_t i = 0; i < ordered->settings->pool_count; i++) {
        const struct settings_pool *pool = &ordered->settings->pools[i];

        if (pool->parent != SETTINGS_NONE && ordered->groups[pool->parent] != ordered->groups[i])
            CU_ASSERT(position(ordered, pool->parent) < position(ordered, i));
        for (uint32_t j = 0; j < pool->output_count; j++) {
            uint32_t to = pool->outputs[j].pool;

            if (to != SETTINGS_NONE && ordered->groups[to] != ordered->groups[i])
                CU_ASSERT(position(ordered, i) < position(ordered, to));
        }
    }
}

static void test_line_is_ordered_against_the_file(void)
{
    struct ordered ordered = order_of("pools:\n"
                                      "  c: {use: sink.null}\n"
                                      "  b: {use: count.words, outputs: {next: c}}\n"
                                      "  a: {use: count.words, outputs: {next: b}}\n");

    CU_ASSERT_EQUAL(ordered.order[0], 2);
    CU_ASSERT_EQUAL(ordered.order[1], 1);
    CU_ASSERT_EQUAL(ordered.order[2], 0);
    expect_sorted(&ordered);
    settings_destroy(ordered.settings);
}

static void test_pools_without_outputs_keep_the_order_of_the_file(void)
{
    struct ordered ordered = order_of(
        "pools: {a: {use: sink.null}, b: {use: sink.null}, c: {use: sink.null}}");

    for (uint32_t i = 0; i < 3; i++)
        CU_ASSERT_EQUAL(ordered.order[i], i);
    settings_destroy(ordered.settings);
}

static void test_diamond_and_nested_pools_are_ordered(void)
{
    struct ordered ordered = order_of(
        "pools:\n"
        "  end: {use: sink.null}\n"
        "  images:\n"
        "    members:\n"
        "      small: {use: thumb.scale, outputs: {done: end, failed: images/large}}\n"
        "      large: {use: thumb.scale, outputs: {done: end}}\n"
        "  left: {use: count.words, outputs: {next: images/small}}\n"
        "  right: {use: count.words, outputs: {next: images}}\n"
        "  start: {use: thumb.scale, outputs: {done: left, failed: right}}\n");

    expect_sorted(&ordered);
    CU_ASSERT_EQUAL(position(&ordered, settings_find_pool(ordered.settings, "start")), 0);
    CU_ASSERT_EQUAL(ordered.order[ordered.settings->pool_count - 1], 0);
    settings_destroy(ordered.settings);
}

static void test_cycle_is_one_group(void)
{
    struct ordered ordered = order_of(
        "pools:\n"
        "  end: {use: sink.null}\n"
        "  a: {use: count.words, outputs: {next: {to: b, when_full: reject}}}\n"
        "  b: {use: thumb.scale, outputs: {done: {to: a, when_full: reject}, failed: end}}\n"
        "  start: {use: count.words, outputs: {next: a}}\n");

    expect_sorted(&ordered);
    CU_ASSERT_EQUAL(ordered.groups[1], ordered.groups[2]);
    CU_ASSERT_NOT_EQUAL(ordered.groups[0], ordered.groups[1]);
    CU_ASSERT_NOT_EQUAL(ordered.groups[3], ordered.groups[1]);
    CU_ASSERT_EQUAL(ordered.order[0], 3);
    CU_ASSERT_EQUAL(ordered.order[1], 1);
    CU_ASSERT_EQUAL(ordered.order[2], 2);
    settings_destroy(ordered.settings);
}

static void test_order_without_groups_and_without_pools(void)
{
    struct settings *settings = reading_settings("version: 1");
    uint32_t order[1] = { 7 };

    CU_ASSERT_PTR_NOT_NULL_FATAL(settings);
    CU_ASSERT_EQUAL(graph_output_order(settings, order, NULL), WEIR_OK);
    CU_ASSERT_EQUAL(order[0], 7);
    settings_destroy(settings);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "line", test_line_is_ordered_against_the_file },
        { "no outputs", test_pools_without_outputs_keep_the_order_of_the_file },
        { "diamond", test_diamond_and_nested_pools_are_ordered },
        { "cycle", test_cycle_is_one_group },
        { "nothing", test_order_without_groups_and_without_pools },
        CU_TEST_INFO_NULL,
    };

    return suite_run("graph", tests);
}
