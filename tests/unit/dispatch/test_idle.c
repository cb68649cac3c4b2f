/* SPDX-License-Identifier: MIT */
/*
 * Goal: the counts of searching and parked threads are right after every step, and no thread
 * is picked twice, or while another one searches.
 *
 * Method: the steps of a few threads, played by one.
 */
#include "dispatch/idle.h"

#include "unit/host/suite.h"

static void test_no_more_search_than_may(void)
{
    struct idle idle;

    idle_init(&idle, 2);
    CU_ASSERT_TRUE(idle_try_search(&idle));
    CU_ASSERT_TRUE(idle_try_search(&idle));
    CU_ASSERT_FALSE(idle_try_search(&idle));
    CU_ASSERT_EQUAL(idle_searching_count(&idle), 2);
    CU_ASSERT_FALSE(idle_found(&idle));
    CU_ASSERT_TRUE(idle_found(&idle)); /* the last one wakes the next */
    CU_ASSERT_EQUAL(idle_searching_count(&idle), 0);
}

static void test_parked_thread_is_picked_once(void)
{
    struct idle idle;

    idle_init(&idle, 2);
    CU_ASSERT_EQUAL(idle_pick(&idle), IDLE_NOBODY);
    CU_ASSERT_TRUE(idle_try_search(&idle));
    idle_park(&idle, 70, true);
    CU_ASSERT_EQUAL(idle_searching_count(&idle), 0);
    CU_ASSERT_EQUAL(idle_parked_count(&idle), 1);
    CU_ASSERT_TRUE(idle_is_parked(&idle, 70));
    CU_ASSERT_EQUAL(idle_pick(&idle), 70);
    CU_ASSERT_FALSE(idle_is_parked(&idle, 70));
    CU_ASSERT_EQUAL(idle_parked_count(&idle), 0);
    CU_ASSERT_EQUAL(idle_searching_count(&idle), 1);
    CU_ASSERT_FALSE(idle_unpark_self(&idle, 70)); /* its token is on the way */
    CU_ASSERT_EQUAL(idle_searching_count(&idle), 1);
}

static void test_nobody_is_picked_while_one_searches(void)
{
    struct idle idle;

    idle_init(&idle, 2);
    idle_park(&idle, 0, false);
    CU_ASSERT_TRUE(idle_try_search(&idle));
    CU_ASSERT_EQUAL(idle_pick(&idle), IDLE_NOBODY);
    CU_ASSERT_TRUE(idle_found(&idle));
    CU_ASSERT_EQUAL(idle_pick(&idle), 0);
}

static void test_thread_that_unparks_itself_searches(void)
{
    struct idle idle;

    idle_init(&idle, 1);
    idle_park(&idle, 3, false);
    CU_ASSERT_TRUE(idle_unpark_self(&idle, 3));
    CU_ASSERT_EQUAL(idle_parked_count(&idle), 0);
    CU_ASSERT_EQUAL(idle_searching_count(&idle), 1);
    CU_ASSERT_FALSE(idle_unpark_self(&idle, 3));
    CU_ASSERT_TRUE(idle_found(&idle));
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "searchers", test_no_more_search_than_may },
        { "picked once", test_parked_thread_is_picked_once },
        { "searching", test_nobody_is_picked_while_one_searches },
        { "unparks itself", test_thread_that_unparks_itself_searches },
        CU_TEST_INFO_NULL,
    };

    return suite_run("idle", tests);
}
