/* SPDX-License-Identifier: MIT */
/*
 * Goal: an outage behind a pool is reported once, and what is no outage is not.
 *
 * Method: figures and times that the test gives, as a host that looks twice a second.
 */
#include "host/pages/outage_state.h"

#include "unit/host/suite.h"

#define LOOK_MS 500
#define HOUR_MS 3600000u

struct fixture {
    struct outage_state state;
    struct weir_pool_stats stats;
    uint64_t now_ms;
    uint32_t begins;
    uint32_t ends;
    uint64_t since_ms; /* of the last report */
};

static struct fixture begin(void)
{
    return (struct fixture){ .now_ms = 1000 };
}

static void look_for(struct fixture *f, uint64_t ms)
{
    for (uint64_t end = f->now_ms + ms; f->now_ms < end;) {
        struct outage_report report;

        f->now_ms += LOOK_MS;
        report = outage_state_look(&f->state, &f->stats, f->now_ms);
        f->begins += report.news == OUTAGE_BEGINS;
        f->ends += report.news == OUTAGE_ENDS;
        if (report.news != OUTAGE_NO_NEWS)
            f->since_ms = report.since_ms;
    }
}

/* One message waits, and is given again twice a second. */
static void retry_for(struct fixture *f, uint64_t ms)
{
    f->stats.held = 1;
    for (uint64_t end = f->now_ms + ms; f->now_ms < end;) {
        f->stats.retried++;
        look_for(f, LOOK_MS);
    }
}

static void finish_message(struct fixture *f)
{
    f->stats.held = 0;
    f->stats.done++;
    look_for(f, LOOK_MS);
}

/* One message is given again, and dies. */
static void fail_message(struct fixture *f)
{
    f->stats.held = 1;
    f->stats.retried++;
    look_for(f, LOOK_MS);
    f->stats.held = 0;
    f->stats.dead++;
    look_for(f, LOOK_MS);
}

/* One message is given again by way of its source. */
static void return_message(struct fixture *f)
{
    f->stats.retried++;
    f->stats.moved++;
    look_for(f, LOOK_MS);
}

/* promise C31 */
static void test_an_outage_is_reported_once(void)
{
    struct fixture f = begin();

    retry_for(&f, OUTAGE_MS);
    CU_ASSERT_EQUAL(f.begins, 0);
    retry_for(&f, HOUR_MS);
    CU_ASSERT_EQUAL(f.begins, 1);
    CU_ASSERT_EQUAL(f.since_ms, OUTAGE_MS);
    CU_ASSERT_EQUAL(f.ends, 0);
    finish_message(&f);
    CU_ASSERT_EQUAL(f.ends, 1);
    finish_message(&f);
    CU_ASSERT_EQUAL(f.begins, 1);
    CU_ASSERT_EQUAL(f.ends, 1);
}

/* promise C31 */
static void test_a_worker_that_polls_does_not_fill_the_log(void)
{
    struct fixture f = begin();

    for (int i = 0; i < 100; i++) {
        retry_for(&f, 6000);
        finish_message(&f);
    }
    CU_ASSERT_EQUAL(f.begins, 1);
    CU_ASSERT_EQUAL(f.ends, 1);
}

/* promise C31: 5, 10, 20 ... 2560 s, then an hour. */
static void test_the_wait_doubles_up_to_an_hour(void)
{
    struct fixture f = begin();

    for (uint64_t wait_ms = OUTAGE_MS; wait_ms < 2 * HOUR_MS; wait_ms *= 2) {
        uint32_t begins = f.begins;

        f.since_ms = 0;
        retry_for(&f, 2 * HOUR_MS);
        CU_ASSERT_EQUAL(f.begins, begins + 1);
        CU_ASSERT_EQUAL(f.since_ms, wait_ms < HOUR_MS ? wait_ms : HOUR_MS);
        f.since_ms = 0;
        finish_message(&f);
    }
}

/* promise C31 */
static void test_after_a_calm_day_five_seconds_are_enough(void)
{
    struct fixture f = begin();

    retry_for(&f, 3 * OUTAGE_MS);
    finish_message(&f);
    look_for(&f, OUTAGE_CALM_MS);
    retry_for(&f, OUTAGE_MS + LOOK_MS);
    CU_ASSERT_EQUAL(f.begins, 2);
    CU_ASSERT_EQUAL(f.since_ms, OUTAGE_MS);
}

/* promise C31 */
static void test_an_idle_pool_has_no_outage(void)
{
    struct fixture f = begin();

    fail_message(&f);
    look_for(&f, 5 * HOUR_MS);
    retry_for(&f, OUTAGE_MS);
    CU_ASSERT_EQUAL(f.begins, 0);
    retry_for(&f, OUTAGE_MS);
    CU_ASSERT_EQUAL(f.begins, 1);
    CU_ASSERT_EQUAL(f.since_ms, OUTAGE_MS);
}

static void test_a_message_of_a_source_is_out_of_sight_meanwhile(void)
{
    struct fixture f = begin();

    return_message(&f);
    look_for(&f, OUTAGE_RETURNS_MS - 2 * LOOK_MS);
    return_message(&f);
    CU_ASSERT_EQUAL(f.begins, 1);
    CU_ASSERT_EQUAL(f.since_ms, OUTAGE_RETURNS_MS - 2 * LOOK_MS + LOOK_MS);
}

static void test_a_source_that_sends_nothing_again_has_no_outage(void)
{
    struct fixture f = begin();

    return_message(&f);
    look_for(&f, 5 * HOUR_MS);
    return_message(&f);
    return_message(&f);
    CU_ASSERT_EQUAL(f.begins, 0);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "once", test_an_outage_is_reported_once },
        { "polls", test_a_worker_that_polls_does_not_fill_the_log },
        { "doubles", test_the_wait_doubles_up_to_an_hour },
        { "calm", test_after_a_calm_day_five_seconds_are_enough },
        { "idle", test_an_idle_pool_has_no_outage },
        { "source", test_a_message_of_a_source_is_out_of_sight_meanwhile },
        { "source idle", test_a_source_that_sends_nothing_again_has_no_outage },
        CU_TEST_INFO_NULL,
    };

    return suite_run("outage_state", tests);
}
