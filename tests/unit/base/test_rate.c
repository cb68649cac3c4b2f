/* SPDX-License-Identifier: MIT */
/*
 * Goal: a token bucket lets at most `burst` and the rate's share of the time pass, within any
 * period, and no message less to a sender that asks as soon as one may pass.
 *
 * Method: time is a number that the test moves. Several senders with a seeded random order of
 * looks, loans, refusals and pauses; then every pair of passes is a period that is checked with
 * whole numbers.
 */
#include <stdlib.h>
#include <string.h>

#include "base/rate.h"

#include "unit/host/suite.h"

#define MS UINT64_C(1000000)
#define S (1000 * MS)
#define PASSES_MAX 3000
#define SENDERS 5

static struct bucket full_bucket(uint32_t messages, uint64_t per_ms, uint32_t burst)
{
    struct rate rate = { .messages = messages, .per_ms = per_ms, .burst = burst };
    struct bucket bucket;

    CU_ASSERT_TRUE(rate_is_valid(&rate));
    bucket_init(&bucket, &rate);
    return bucket;
}

/* Takes and uses up to `wanted` tokens. */
static uint32_t pass(struct bucket *bucket, uint64_t now_ns, uint32_t wanted)
{
    uint32_t lent = bucket_borrow(bucket, now_ns, wanted);

    bucket_return(bucket, now_ns, lent, lent);
    return lent;
}

static void test_full_bucket_gives_its_burst_then_one_by_one(void)
{
    struct bucket bucket = full_bucket(10, 1000, 3);

    CU_ASSERT_EQUAL(bucket_free(&bucket, 7 * S), 3);
    CU_ASSERT_EQUAL(pass(&bucket, 7 * S, 10), 3);
    CU_ASSERT_EQUAL(bucket_due_ns(&bucket, 7 * S, 1), 7 * S + 100 * MS);
    CU_ASSERT_EQUAL(bucket_due_ns(&bucket, 7 * S, 5), 7 * S + 500 * MS);
    CU_ASSERT_EQUAL(pass(&bucket, 7 * S + 100 * MS - 1, 1), 0);
    CU_ASSERT_EQUAL(pass(&bucket, 7 * S + 100 * MS, 2), 1);
    CU_ASSERT_EQUAL(pass(&bucket, 8 * S + 100 * MS, 10), 3);
}

/* A bucket that was full gains nothing for that time: its next token is a whole interval later. */
static void test_time_spent_full_is_not_saved_up(void)
{
    struct bucket bucket = full_bucket(1, 1000, 1);

    CU_ASSERT_EQUAL(pass(&bucket, S + 900 * MS, 1), 1);
    CU_ASSERT_EQUAL(pass(&bucket, 2 * S + 899 * MS, 1), 0);
    CU_ASSERT_EQUAL(pass(&bucket, 2 * S + 900 * MS, 1), 1);
}

static void test_returned_token_can_be_borrowed_again_but_adds_nothing(void)
{
    struct bucket bucket = full_bucket(1, 1000, 2);

    CU_ASSERT_EQUAL(bucket_borrow(&bucket, S, 2), 2);
    CU_ASSERT_EQUAL(bucket_free(&bucket, 60 * S), 0);
    bucket_return(&bucket, 60 * S, 2, 0);
    CU_ASSERT_EQUAL(bucket_free(&bucket, 60 * S), 2);
    CU_ASSERT_EQUAL(pass(&bucket, 60 * S, 9), 2);
    CU_ASSERT_EQUAL(pass(&bucket, 60 * S, 9), 0);
}

static void test_other_rate_keeps_the_tokens(void)
{
    struct bucket bucket = full_bucket(10, 1000, 10);
    struct rate faster = { .messages = 1000, .per_ms = 1000, .burst = 100 };
    struct rate smaller = { .messages = 1, .per_ms = 1000, .burst = 2 };

    CU_ASSERT_EQUAL(pass(&bucket, S, 6), 6);
    bucket_set_rate(&bucket, S, &faster);
    CU_ASSERT_EQUAL(bucket_free(&bucket, S), 4);
    CU_ASSERT_EQUAL(bucket_free(&bucket, S + MS), 5);
    bucket_set_rate(&bucket, S + MS, &smaller);
    CU_ASSERT_EQUAL(bucket_free(&bucket, S + MS), 2);
    CU_ASSERT_EQUAL(pass(&bucket, S + MS, 9), 2);
    CU_ASSERT_EQUAL(bucket_due_ns(&bucket, S + MS, 1), 2 * S + MS);
}

/* A loan that is larger than the new burst delays the next token until it is paid for. */
static void test_smaller_burst_during_a_loan_is_made_up_for(void)
{
    struct bucket bucket = full_bucket(10, 1000, 10);
    struct rate smaller = { .messages = 1, .per_ms = 1000, .burst = 1 };

    CU_ASSERT_EQUAL(bucket_borrow(&bucket, S, 4), 4);
    bucket_set_rate(&bucket, S, &smaller);
    CU_ASSERT_EQUAL(bucket_free(&bucket, S), 0);
    bucket_return(&bucket, S, 4, 4);
    CU_ASSERT_EQUAL(bucket_due_ns(&bucket, S, 1), 5 * S);
    CU_ASSERT_EQUAL(pass(&bucket, 5 * S - 1, 1), 0);
    CU_ASSERT_EQUAL(pass(&bucket, 5 * S, 1), 1);
}

static void test_earlier_time_than_before_is_no_harm(void)
{
    struct bucket bucket = full_bucket(10, 1000, 1);

    CU_ASSERT_EQUAL(pass(&bucket, 2 * S, 1), 1);
    CU_ASSERT_EQUAL(pass(&bucket, S, 1), 0);
    CU_ASSERT_EQUAL(bucket_due_ns(&bucket, S, 1), 2 * S + 100 * MS);
}

static void test_largest_rate_and_longest_period_fit(void)
{
    struct bucket bucket = full_bucket(RATE_MESSAGES_MAX, RATE_PER_MS_MAX, RATE_BURST_MAX);
    const uint64_t late = UINT64_MAX / 2;
    const uint64_t period = RATE_PER_MS_MAX * MS;

    CU_ASSERT_EQUAL(pass(&bucket, late, UINT32_MAX), RATE_BURST_MAX);
    CU_ASSERT_EQUAL(pass(&bucket, late + period - 1, UINT32_MAX), RATE_MESSAGES_MAX - 1);
    CU_ASSERT_EQUAL(bucket_due_ns(&bucket, late + period - 1, 1), late + period);
    CU_ASSERT_EQUAL(bucket_due_ns(&bucket, late + period, RATE_MESSAGES_MAX),
                    late + 2 * period - period / RATE_MESSAGES_MAX);
}

static void test_usual_burst_is_a_tenth_of_a_second(void)
{
    CU_ASSERT_EQUAL(rate_usual_burst(100, 1000), 10);
    CU_ASSERT_EQUAL(rate_usual_burst(19, 1000), 1);
    CU_ASSERT_EQUAL(rate_usual_burst(1, 3600000), 1);
    CU_ASSERT_EQUAL(rate_usual_burst(RATE_MESSAGES_MAX, 1), RATE_BURST_MAX);
}

/* No drift: a sender that comes at each due time passes as many as the rate says, to the last. */
static void test_sender_at_each_due_time_gets_the_whole_rate(void)
{
    struct bucket bucket = full_bucket(7, 1000, 1); /* an interval is no whole number of ns */
    uint64_t now = 3 * S;
    uint32_t count = 0;

    CU_ASSERT_EQUAL(pass(&bucket, now, 1), 1);
    while ((now = bucket_due_ns(&bucket, now, 1)) <= 1003 * S)
        count += pass(&bucket, now, 1);
    /* With a burst of one each interval is rounded up to a microsecond: one of 7,000 at most. */
    CU_ASSERT_TRUE(count >= 6999 && count <= 7000);
    bucket = full_bucket(7, 1000, 2);
    CU_ASSERT_EQUAL(pass(&bucket, 3 * S, 2), 2);
    for (now = 3 * S, count = 0; (now = bucket_due_ns(&bucket, now, 1)) <= 1003 * S;)
        count += pass(&bucket, now, 1);
    CU_ASSERT_EQUAL(count, 7000);
}

/* --- any period --------------------------------------------------------------------------- */

struct world {
    struct bucket bucket;
    uint64_t now_ns;
    uint32_t loans[SENDERS];
    uint64_t passes[PASSES_MAX];
    uint32_t count;
    unsigned seed;
};

static uint32_t below(struct world *world, uint32_t bound)
{
    return (uint32_t)rand_r(&world->seed) % bound;
}

static void move_time(struct world *world)
{
    uint64_t interval_ns = world->bucket.rate.per_ms * MS / world->bucket.rate.messages;

    switch (below(world, 4)) {
    case 0:
        world->now_ns = bucket_due_ns(&world->bucket, world->now_ns, 1);
        break;
    case 1:
        world->now_ns += below(world, 1000);
        break;
    case 2:
        world->now_ns += interval_ns * below(world, 30) / 10;
        break;
    default:
        break;
    }
}

/* A sender borrows; or, later, sends, and the target takes some or all messages. */
static void let_a_sender_act(struct world *world)
{
    uint32_t *loan = &world->loans[below(world, SENDERS)];
    uint32_t used;

    if (*loan == 0) {
        *loan = bucket_borrow(&world->bucket, world->now_ns, 1 + below(world, 4));
        return;
    }
    used = below(world, 3) ? *loan : below(world, *loan + 1);
    for (uint32_t i = 0; i < used && world->count < PASSES_MAX; i++)
        world->passes[world->count++] = world->now_ns;
    bucket_return(&world->bucket, world->now_ns, *loan, used);
    *loan = 0;
}

/* (passes - burst) * per <= time * messages. */
static bool is_within_rate(const struct world *world, uint32_t first, uint32_t last)
{
    const struct rate *rate = &world->bucket.rate;
    uint32_t count = last - first + 1;
    uint64_t time_ns = world->passes[last] - world->passes[first];

    return count <= rate->burst ||
           (long double)(count - rate->burst) * (long double)(rate->per_ms * MS) <=
               (long double)time_ns * rate->messages;
}

static bool are_all_periods_within_rate(const struct world *world)
{
    for (uint32_t last = 0; last < world->count; last++)
        for (uint32_t first = 0; first <= last; first++)
            if (!is_within_rate(world, first, last))
                return false;
    return true;
}

/* promise O9: over any period at most the burst and the rate's share, for all senders. */
static void test_any_period_has_at_most_burst_and_rate(void)
{
    static const struct rate rates[] = {
        { .messages = 100, .per_ms = 1000, .burst = 10 },
        { .messages = 7, .per_ms = 1000, .burst = 1 },
        { .messages = 1, .per_ms = 3600000, .burst = 3 },
        { .messages = 999983, .per_ms = 1, .burst = 5 },
    };

    for (unsigned seed = 1; seed <= 8; seed++) {
        static struct world world;

        memset(&world, 0, sizeof world);
        world.seed = seed;
        world.now_ns = S;
        bucket_init(&world.bucket, &rates[seed % (sizeof rates / sizeof rates[0])]);
        while (world.count < PASSES_MAX) {
            move_time(&world);
            let_a_sender_act(&world);
        }
        CU_ASSERT_TRUE(are_all_periods_within_rate(&world));
    }
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "burst, then one by one", test_full_bucket_gives_its_burst_then_one_by_one },
        { "time spent full", test_time_spent_full_is_not_saved_up },
        { "returned tokens", test_returned_token_can_be_borrowed_again_but_adds_nothing },
        { "another rate", test_other_rate_keeps_the_tokens },
        { "smaller burst during a loan", test_smaller_burst_during_a_loan_is_made_up_for },
        { "earlier time", test_earlier_time_than_before_is_no_harm },
        { "largest rate", test_largest_rate_and_longest_period_fit },
        { "usual burst", test_usual_burst_is_a_tenth_of_a_second },
        { "whole rate", test_sender_at_each_due_time_gets_the_whole_rate },
        { "any period", test_any_period_has_at_most_burst_and_rate },
        CU_TEST_INFO_NULL,
    };

    return suite_run("rate", tests);
}
