/* SPDX-License-Identifier: MIT */
/*
 * Goal: the manager requests more workers while messages pile up, and one fewer after a calm time;
 * it replies to requests with the state of the pool. Method: <weir/testkit.h> stands in for the
 * host: the test sets the state of the pool, and moves the clock.
 */
#include <CUnit/Basic.h>
#include <CUnit/CUnit.h>

#include <weir/testkit.h>

extern const struct weir_plugin weir_plugin_v1;

#define POOL 77u

static struct weir_kit *open_manager(uint32_t target)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "by_load");

    weir_kit_place(kit, 0, POOL);
    weir_kit_pool(kit)->target = target;
    weir_kit_pool(kit)->live = target;
    CU_ASSERT_EQUAL_FATAL(weir_kit_open_args(kit, "every: 100ms\ncalm: 1s\nabove: 4"), 0);
    return kit;
}

/* The target after one tick with so many waiting messages and idle workers. */
static uint32_t look(struct weir_kit *kit, uint64_t queued, uint32_t idle)
{
    weir_kit_pool(kit)->queued = queued;
    weir_kit_pool(kit)->idle = idle;
    weir_kit_advance(kit, 100);
    return weir_kit_pool(kit)->target;
}

static void test_piled_up_messages_grow_the_pool(void)
{
    struct weir_kit *kit = open_manager(1);

    CU_ASSERT_EQUAL(look(kit, 4, 0), 1);
    CU_ASSERT_EQUAL(look(kit, 5, 0), 2);
    CU_ASSERT_EQUAL(look(kit, 9, 0), 3);
    CU_ASSERT_EQUAL(look(kit, 100, 0), 4);
    CU_ASSERT_EQUAL(look(kit, 100, 0), 6);
    CU_ASSERT_EQUAL(look(kit, 24, 0), 6);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_starting_workers_are_waited_for(void)
{
    struct weir_kit *kit = open_manager(2);

    weir_kit_pool(kit)->starting = 1;
    CU_ASSERT_EQUAL(look(kit, 100, 0), 2);
    weir_kit_pool(kit)->starting = 0;
    CU_ASSERT_EQUAL(look(kit, 100, 0), 3);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_calm_pool_shrinks_by_one(void)
{
    struct weir_kit *kit = open_manager(3);

    for (int i = 1; i < 10; i++)
        CU_ASSERT_EQUAL(look(kit, 0, 3), 3);
    CU_ASSERT_EQUAL(look(kit, 0, 3), 2);
    for (int i = 1; i < 10; i++)
        CU_ASSERT_EQUAL(look(kit, 0, 1), 2);
    CU_ASSERT_EQUAL(look(kit, 0, 1), 1);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_busy_moment_begins_calm_anew(void)
{
    struct weir_kit *kit = open_manager(3);

    for (int i = 1; i < 10; i++)
        CU_ASSERT_EQUAL(look(kit, 0, 3), 3);
    CU_ASSERT_EQUAL(look(kit, 1, 0), 3);
    for (int i = 1; i < 10; i++)
        CU_ASSERT_EQUAL(look(kit, 0, 3), 3);
    CU_ASSERT_EQUAL(look(kit, 0, 0), 3);
    CU_ASSERT_EQUAL(look(kit, 0, 3), 3);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_empty_pool_stays_empty(void)
{
    struct weir_kit *kit = open_manager(0);

    for (int i = 0; i < 30; i++)
        CU_ASSERT_EQUAL(look(kit, 0, 0), 0);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_request_is_answered(void)
{
    struct weir_kit *kit = open_manager(3);
    const struct weir_pool_stats *stats;

    CU_ASSERT_EQUAL(weir_kit_request(kit, WEIR_POOL_STATS, NULL, 0), WEIR_DONE);
    CU_ASSERT_PTR_NOT_NULL_FATAL(weir_kit_replied(kit, 0));
    stats = weir_kit_replied(kit, 0)->data;
    CU_ASSERT_EQUAL(stats->target, 3);
    CU_ASSERT_EQUAL(weir_kit_request(kit, WEIR_POOL_PAUSE, NULL, 0), WEIR_REJECT);
    CU_ASSERT_EQUAL(weir_kit_handle(kit, WEIR_POOL_STATS, NULL, 0), WEIR_REJECT);
    weir_kit_fail_allocation(kit, 1);
    CU_ASSERT_EQUAL(weir_kit_request(kit, WEIR_POOL_STATS, NULL, 0), WEIR_REJECT);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "piled_up_messages_grow_the_pool", test_piled_up_messages_grow_the_pool },
        { "starting_workers_are_waited_for", test_starting_workers_are_waited_for },
        { "calm_pool_shrinks_by_one", test_calm_pool_shrinks_by_one },
        { "busy_moment_begins_calm_anew", test_busy_moment_begins_calm_anew },
        { "empty_pool_stays_empty", test_empty_pool_stays_empty },
        { "request_is_answered", test_request_is_answered },
        CU_TEST_INFO_NULL,
    };
    CU_SuiteInfo suites[] = { { .pName = "scaler", .pTests = tests }, CU_SUITE_INFO_NULL };
    unsigned failures;

    if (CU_initialize_registry() != CUE_SUCCESS || CU_register_suites(suites) != CUE_SUCCESS)
        return 1;
    CU_basic_run_tests();
    failures = CU_get_number_of_failures();
    CU_cleanup_registry();
    return failures != 0;
}
