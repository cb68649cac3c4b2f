/* SPDX-License-Identifier: MIT */
/*
 * Goal: the age of the first message in a queue is never overestimated, and underestimated by at
 * most the time between two checks or a third of itself.
 *
 * Method: looks at queues whose messages have known times of admission.
 */
#include "stats/age.h"
#include "unit/host/suite.h"

#define S UINT64_C(1000000000)
#define ROUNDS 20000u

/* promise P18 */
static void test_age_counts_from_the_first_look_that_saw_it(void)
{
    struct age age = { 0 };

    CU_ASSERT_EQUAL(age_read(&age, 0, 0, 1 * S), 0);
    CU_ASSERT_EQUAL(age_read(&age, 1, 0, 2 * S), 0);
    CU_ASSERT_EQUAL(age_read(&age, 5, 0, 3 * S), 1 * S);
    CU_ASSERT_EQUAL(age_read(&age, 5, 0, 9 * S), 7 * S);
    /* The first has gone: the others were first seen at 3. */
    CU_ASSERT_EQUAL(age_read(&age, 5, 1, 10 * S), 7 * S);
    CU_ASSERT_EQUAL(age_read(&age, 6, 5, 11 * S), 0);
    CU_ASSERT_EQUAL(age_read(&age, 6, 6, 12 * S), 0);
    CU_ASSERT_EQUAL(age_read(&age, 7, 6, 13 * S), 0);
}

/* promise P18 */
static void test_what_never_leaves_grows_old_however_often_it_is_looked_at(void)
{
    struct age age = { 0 };

    for (uint64_t i = 0; i < 1000; i++)
        CU_ASSERT_EQUAL(age_read(&age, i + 1, 0, (i + 1) * S), i * S);
}

static uint64_t next_random(uint64_t *random)
{
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    return *random;
}

/* promise P18: queues that grow and shrink at random, looked at at random. */
static void test_age_is_a_lower_bound_and_not_far_below(void)
{
    static uint64_t admitted_ns[ROUNDS + 1];
    struct age age = { 0 };
    uint64_t random = 1; /* the same each time */
    uint64_t admitted = 0;
    uint64_t taken = 0;
    uint64_t last_ns = 0;
    uint64_t longest = 1;
    uint32_t lies = 0;
    uint32_t far = 0;

    for (uint64_t now = 1; now <= ROUNDS; now++) {
        uint64_t answer;
        uint64_t is;

        if (next_random(&random) % 3 > 0)
            admitted_ns[admitted++] = now;
        if (taken < admitted && next_random(&random) % 1000 < (now / 4000 % 2 ? 900 : 450))
            taken++;
        if (next_random(&random) % 10 > 0)
            continue;
        longest = now - last_ns > longest ? now - last_ns : longest;
        last_ns = now;
        answer = age_read(&age, admitted, taken, now);
        is = taken < admitted ? now - admitted_ns[taken] : 0;
        lies += answer > is;
        far += is - answer > longest && is - answer > is / 3;
    }
    CU_ASSERT_EQUAL(lies, 0);
    CU_ASSERT_EQUAL(far, 0);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "first", test_age_counts_from_the_first_look_that_saw_it },
        { "stuck", test_what_never_leaves_grows_old_however_often_it_is_looked_at },
        { "bound", test_age_is_a_lower_bound_and_not_far_below },
        CU_TEST_INFO_NULL,
    };

    return suite_run("age", tests);
}
