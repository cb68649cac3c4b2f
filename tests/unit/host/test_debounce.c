/* SPDX-License-Identifier: MIT */
/*
 * Goal: several changes in a row cause one action, after they rest; changes without rest cause an
 * action, too. Shows promise R9.
 * Method: looks at made-up stamps at made-up times.
 */
#include "host/reload/debounce.h"
#include "suite.h"

#define OLD 1u
#define NEW 2u

static struct debounce acted_on(uint64_t stamp)
{
    struct debounce debounce;

    debounce_reset(&debounce, stamp);
    return debounce;
}

static void test_no_change_is_nothing(void)
{
    struct debounce debounce = acted_on(OLD);
    uint64_t wait_ms = 99;

    for (uint64_t now_ms = 0; now_ms < 10 * DEBOUNCE_MAX_MS; now_ms += DEBOUNCE_MS) {
        CU_ASSERT_FALSE(debounce_look(&debounce, OLD, now_ms, &wait_ms));
        CU_ASSERT_EQUAL(wait_ms, 0);
    }
}

static void test_change_is_acted_on_once_when_it_rests(void)
{
    struct debounce debounce = acted_on(OLD);
    uint64_t wait_ms;

    CU_ASSERT_FALSE(debounce_look(&debounce, NEW, 1000, &wait_ms));
    CU_ASSERT_EQUAL(wait_ms, DEBOUNCE_MS);
    CU_ASSERT_FALSE(debounce_look(&debounce, NEW, 1000 + DEBOUNCE_MS - 1, &wait_ms));
    CU_ASSERT_EQUAL(wait_ms, 1);
    CU_ASSERT_TRUE(debounce_look(&debounce, NEW, 1000 + DEBOUNCE_MS, &wait_ms));
    CU_ASSERT_FALSE(debounce_look(&debounce, NEW, 1000 + 2 * DEBOUNCE_MS, &wait_ms));
    CU_ASSERT_EQUAL(wait_ms, 0);
}

static void test_each_step_begins_the_wait_anew(void)
{
    struct debounce debounce = acted_on(OLD);
    uint64_t wait_ms;
    uint64_t now_ms = 1000;

    for (uint64_t stamp = NEW; stamp < NEW + 5; stamp++, now_ms += DEBOUNCE_MS - 1)
        CU_ASSERT_FALSE(debounce_look(&debounce, stamp, now_ms, &wait_ms));
    CU_ASSERT_FALSE(debounce_look(&debounce, NEW + 4, now_ms, &wait_ms));
    CU_ASSERT_EQUAL(wait_ms, 1);
    CU_ASSERT_TRUE(debounce_look(&debounce, NEW + 4, now_ms + 1, &wait_ms));
}

static void test_what_never_rests_is_acted_on_in_the_end(void)
{
    struct debounce debounce = acted_on(OLD);
    uint64_t stamp = NEW;
    uint64_t now_ms = 1000;
    uint64_t wait_ms;

    while (!debounce_look(&debounce, stamp, now_ms, &wait_ms) && now_ms < 100000) {
        stamp++;
        now_ms += 10;
    }
    CU_ASSERT_EQUAL(now_ms, 1000 + DEBOUNCE_MAX_MS);
}

static void test_change_that_is_taken_back_is_nothing(void)
{
    struct debounce debounce = acted_on(OLD);
    uint64_t wait_ms;

    CU_ASSERT_FALSE(debounce_look(&debounce, NEW, 1000, &wait_ms));
    CU_ASSERT_FALSE(debounce_look(&debounce, OLD, 1010, &wait_ms));
    CU_ASSERT_EQUAL(wait_ms, 0);
    /* The next one has a first step of its own. */
    CU_ASSERT_FALSE(debounce_look(&debounce, NEW, 1000 + DEBOUNCE_MAX_MS, &wait_ms));
    CU_ASSERT_EQUAL(wait_ms, DEBOUNCE_MS);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "no change", test_no_change_is_nothing },
        { "rest", test_change_is_acted_on_once_when_it_rests },
        { "steps", test_each_step_begins_the_wait_anew },
        { "no rest", test_what_never_rests_is_acted_on_in_the_end },
        { "taken back", test_change_that_is_taken_back_is_nothing },
        CU_TEST_INFO_NULL,
    };

    return suite_run("debounce", tests);
}
