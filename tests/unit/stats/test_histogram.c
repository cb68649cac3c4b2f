/* SPDX-License-Identifier: MIT */
/*
 * Goal: each duration is counted in the first bucket whose bound it does not exceed, and a
 * percentile is never below the true one, nor above the next bound.
 *
 * Method: durations at and around the bounds, and random ones beside a sorted array of them.
 */
#include <stdlib.h>

#include "stats/histogram.h"
#include "unit/host/suite.h"

#define DURATIONS 5000u

static void test_duration_is_in_the_first_bucket_that_holds_it(void)
{
    for (uint32_t bucket = 0; bucket < HISTOGRAM_BOUNDS; bucket++) {
        struct histogram histogram = { 0 };

        CU_ASSERT_TRUE(histogram_bound_ns(bucket) < histogram_bound_ns(bucket + 1));
        histogram_add(&histogram, histogram_bound_ns(bucket));
        CU_ASSERT_EQUAL(histogram.counts[bucket], 1);
        histogram_add(&histogram, histogram_bound_ns(bucket) + 1);
        CU_ASSERT_EQUAL(histogram.counts[bucket + 1], 1);
        CU_ASSERT_EQUAL(histogram_count(&histogram), 2);
        CU_ASSERT_EQUAL(histogram.sum_ns, 2 * histogram_bound_ns(bucket) + 1);
    }
}

static void test_empty_histogram_has_no_percentile(void)
{
    const struct histogram histogram = { 0 };

    CU_ASSERT_EQUAL(histogram_percentile_ns(&histogram, 50), 0);
    CU_ASSERT_EQUAL(histogram_count(&histogram), 0);
}

static int by_size(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;

    return (*a > *b) - (*a < *b);
}

/* The bound of the bucket of a duration. */
static uint64_t bound_of(uint64_t ns)
{
    uint32_t bucket = 0;

    while (ns > histogram_bound_ns(bucket))
        bucket++;
    return histogram_bound_ns(bucket);
}

static void test_percentile_is_between_the_true_one_and_its_bound(void)
{
    static uint64_t durations[DURATIONS];
    struct histogram halves[2] = { 0 };
    uint64_t random = 1;

    for (uint32_t i = 0; i < DURATIONS; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        durations[i] = (random >> 20) >> (random >> 59); /* of all sizes, past the last bound */
        histogram_add(&halves[i % 2], durations[i]);
    }
    histogram_absorb(&halves[0], &halves[1]);
    qsort(durations, DURATIONS, sizeof durations[0], by_size);
    CU_ASSERT_EQUAL(histogram_count(&halves[0]), DURATIONS);
    CU_ASSERT_EQUAL(halves[0].max_ns, durations[DURATIONS - 1]);
    for (uint32_t percent = 1; percent <= 100; percent++) {
        uint64_t exact = durations[(DURATIONS * percent + 99) / 100 - 1];
        uint64_t answer = histogram_percentile_ns(&halves[0], percent);

        CU_ASSERT_TRUE(answer >= exact);
        CU_ASSERT_TRUE(answer <= bound_of(exact));
    }
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "bucket", test_duration_is_in_the_first_bucket_that_holds_it },
        { "empty", test_empty_histogram_has_no_percentile },
        { "percentile", test_percentile_is_between_the_true_one_and_its_bound },
        CU_TEST_INFO_NULL,
    };

    return suite_run("histogram", tests);
}
