/* SPDX-License-Identifier: MIT */
/*
 * Goal: the mean length of a turn follows the turns, counts no time without turns, and is long
 * until it is known.
 *
 * Method: looks at a clock that the test makes up.
 */
#include "dispatch/pace.h"

#include "unit/host/suite.h"

#define START_NS 1000000000u

static void test_pace_before_the_first_turns_counts_as_long(void)
{
    struct pace pace;

    pace_init(&pace, START_NS);
    CU_ASSERT_EQUAL(pace_turn_ns(&pace), UINT32_MAX);
    pace_look(&pace, START_NS + PACE_NS, 0);
    CU_ASSERT_EQUAL(pace_turn_ns(&pace), UINT32_MAX);
    pace_look(&pace, START_NS + PACE_NS + 500, PACE_TURNS - 1);
    CU_ASSERT_EQUAL(pace_turn_ns(&pace), UINT32_MAX);
}

static void test_pace_is_the_mean_of_many_short_turns(void)
{
    struct pace pace;

    pace_init(&pace, START_NS);
    pace_look(&pace, START_NS + 1000, PACE_TURNS / 2);
    pace_look(&pace, START_NS + 1600, PACE_TURNS);
    CU_ASSERT_EQUAL(pace_turn_ns(&pace), 100);
}

static void test_pace_of_long_turns_is_known_after_a_millisecond(void)
{
    struct pace pace;

    pace_init(&pace, START_NS);
    pace_look(&pace, START_NS + 1600, PACE_TURNS);
    pace_look(&pace, START_NS + 1600 + 2 * PACE_NS, PACE_TURNS + 1);
    CU_ASSERT_EQUAL(pace_turn_ns(&pace), 2 * PACE_NS);
    pace_look(&pace, START_NS + 1600 + 12000000000u, PACE_TURNS + 2);
    CU_ASSERT_EQUAL(pace_turn_ns(&pace), UINT32_MAX);
}

static void test_pace_leaves_out_the_time_without_turns(void)
{
    struct pace pace;

    pace_init(&pace, START_NS);
    pace_look(&pace, START_NS + 800, PACE_TURNS / 2);
    pace_look(&pace, START_NS + 900000, PACE_TURNS / 2);
    pace_look(&pace, START_NS + 990000, PACE_TURNS / 2);
    pace_look(&pace, START_NS + 990800, PACE_TURNS);
    CU_ASSERT_EQUAL(pace_turn_ns(&pace), 100);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "not known", test_pace_before_the_first_turns_counts_as_long },
        { "short", test_pace_is_the_mean_of_many_short_turns },
        { "long", test_pace_of_long_turns_is_known_after_a_millisecond },
        { "idle", test_pace_leaves_out_the_time_without_turns },
        CU_TEST_INFO_NULL,
    };

    return suite_run("pace", tests);
}
