/* SPDX-License-Identifier: MIT */
/*
 * Goal:   a piece of a higher priority is taken first, as if it was put earlier by `aging`, and a
 *         piece with `after` waits for its time, also over a step of the clock; within `unique` one
 *         piece of an id is stored. Shows promises B113 and B114.
 * Method: both behaviours in the test kit, with the real thread and the real file, and a clock of
 *         the test's own. Another process looks at the file.
 */
#include <stdio.h>
#include <string.h>

#include "../host/suite.h"
#include "queue_fixture.h"

#define PIECES "SELECT count(*) FROM piece"
#define HOUR_S 3600

static void put(struct fixture *f, const char *options, const char *text)
{
    size_t before = weir_kit_settled_count(f->put, WEIR_DONE);

    fixture_reconfigure_put(f, options);
    CU_ASSERT_EQUAL(fixture_put(f, text), WEIR_KEEP);
    fixture_wait_stored(f, before + 1);
}

/* One after the other, each as soon as the one before is done. */
static void expect_order(struct fixture *f, const char *const *texts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        (void)fixture_wait_taken(f, i + 1);
        fixture_expect_taken(f, i, texts[i]);
        fixture_tell_done(f, i);
    }
    fixture_wait_answer(f, PIECES, "0");
}

static void test_higher_priority_is_taken_first(void)
{
    struct fixture f;

    fixture_init(&f);
    fixture_open_put(&f, "min_free: 0");
    put(&f, "min_free: 0\npriority: -1", "low");
    put(&f, "min_free: 0", "1");
    put(&f, "min_free: 0\npriority: 2", "high 1");
    put(&f, "min_free: 0", "2");
    put(&f, "min_free: 0\npriority: 2", "high 2");
    fixture_open_take(&f, "window: 1");
    expect_order(&f, (const char *const[]){ "high 1", "high 2", "1", "2", "low" }, 5);
    fixture_finish(&f);
}

/* The take has read behind the place of the second one. */
static void test_priority_comes_before_what_was_read(void)
{
    struct fixture f;

    fixture_init(&f);
    fixture_open_put(&f, "min_free: 0");
    put(&f, "min_free: 0", "1");
    fixture_open_take(&f, "window: 1");
    (void)fixture_wait_taken(&f, 1);
    put(&f, "min_free: 0", "2");
    put(&f, "min_free: 0\npriority: 1", "high");
    expect_order(&f, (const char *const[]){ "1", "high", "2" }, 3);
    fixture_finish(&f);
}

/* After `aging` an old piece is before a new one with one priority more. */
static void test_old_piece_outranks_a_priority(void)
{
    struct fixture f;

    fixture_init(&f);
    fixture_open_put(&f, "min_free: 0");
    put(&f, "min_free: 0", "old");
    fixture_step_clock(HOUR_S + 60);
    put(&f, "min_free: 0\npriority: 1\naging: 1h", "new");
    put(&f, "min_free: 0\npriority: 2\naging: 1h", "newest");
    fixture_open_take(&f, "window: 1");
    expect_order(&f, (const char *const[]){ "newest", "old", "new" }, 3);
    fixture_finish(&f);
}

static void test_clock_that_is_set_back_changes_no_order(void)
{
    struct fixture f;

    fixture_init(&f);
    fixture_open_put(&f, "min_free: 0");
    put(&f, "min_free: 0\npriority: -1", "low");
    put(&f, "min_free: 0\npriority: 1", "1");
    fixture_close_put(&f); /* also over a restart */
    fixture_step_clock(-HOUR_S);
    fixture_open_put(&f, "min_free: 0");
    put(&f, "min_free: 0\npriority: 1", "2");
    put(&f, "min_free: 0", "3");
    fixture_open_take(&f, "window: 1");
    expect_order(&f, (const char *const[]){ "1", "2", "3", "low" }, 4);
    fixture_step_clock(HOUR_S);
    fixture_finish(&f);
}

static void test_piece_waits_for_after(void)
{
    struct fixture f;

    fixture_init(&f);
    fixture_open_put(&f, "min_free: 0");
    put(&f, "min_free: 0\nafter: 1h", "later");
    put(&f, "min_free: 0", "now");
    CU_ASSERT_STRING_EQUAL(fixture_ask(&f, "SELECT state, delay FROM piece ORDER BY id"),
                           "1 3600000 0 -");
    fixture_open_take(&f, "");
    (void)fixture_wait_taken(&f, 1);
    fixture_expect_taken(&f, 0, "now");
    fixture_step_clock(HOUR_S);
    (void)fixture_wait_taken(&f, 2);
    fixture_expect_taken(&f, 1, "later");
    CU_ASSERT_EQUAL(weir_kit_emitted(f.take, 0, 1)->attempt, 1);
    fixture_tell_done(&f, 0);
    fixture_tell_done(&f, 1);
    fixture_wait_answer(&f, PIECES, "0");
    fixture_step_clock(-HOUR_S);
    fixture_finish(&f);
}

#define UNIQUE "min_free: 0\nid: content\nunique: 1h"

static void test_second_piece_of_an_id_is_done_and_not_stored(void)
{
    struct fixture f;

    fixture_init(&f);
    fixture_open_put(&f, UNIQUE);
    put(&f, UNIQUE, "a");
    put(&f, UNIQUE, "a");
    put(&f, UNIQUE, "b");
    CU_ASSERT_STRING_EQUAL(fixture_ask(&f, PIECES), "2");
    CU_ASSERT_PTR_NOT_NULL(strstr(weir_kit_inspect(f.put, NULL), "duplicates=1\n"));
    fixture_open_take(&f, "");
    expect_order(&f, (const char *const[]){ "a", "b" }, 2);
    put(&f, UNIQUE, "a"); /* also when the first one is gone */
    CU_ASSERT_STRING_EQUAL(fixture_ask(&f, PIECES), "0");
    fixture_close_put(&f); /* and over a restart */
    fixture_open_put(&f, UNIQUE);
    put(&f, UNIQUE, "b");
    CU_ASSERT_STRING_EQUAL(fixture_ask(&f, PIECES), "0");
    fixture_step_clock(HOUR_S + 1);
    put(&f, UNIQUE, "c");
    CU_ASSERT_STRING_EQUAL(fixture_ask(&f, "SELECT count(*) FROM seen"), "1");
    fixture_step_clock(-HOUR_S - 1);
    fixture_finish(&f);
}

static void test_clock_that_is_set_back_makes_unique_no_longer(void)
{
    struct fixture f;

    fixture_init(&f);
    fixture_open_put(&f, UNIQUE);
    put(&f, UNIQUE, "a");
    fixture_step_clock(-10 * HOUR_S);
    put(&f, UNIQUE, "a");
    CU_ASSERT_STRING_EQUAL(fixture_ask(&f, PIECES), "1");
    fixture_step_clock(HOUR_S + 1);
    put(&f, UNIQUE, "a");
    CU_ASSERT_STRING_EQUAL(fixture_ask(&f, PIECES), "2");
    fixture_step_clock(9 * HOUR_S - 1);
    fixture_finish(&f);
}

/* Also when no message comes meanwhile. */
static void test_step_back_adds_no_more_than_unique(void)
{
    struct fixture f;
    char sql[96];

    fixture_init(&f);
    fixture_open_put(&f, UNIQUE);
    put(&f, UNIQUE, "a");
    fixture_step_clock(-10 * HOUR_S);
    (void)snprintf(sql, sizeof sql, "SELECT until - lasts <= %lld FROM seen",
                   (long long)fixture_now_ms() + 60000);
    fixture_wait_answer(&f, sql, "1");
    fixture_step_clock(HOUR_S + 60);
    put(&f, UNIQUE, "a");
    CU_ASSERT_STRING_EQUAL(fixture_ask(&f, PIECES), "2");
    fixture_step_clock(9 * HOUR_S - 60);
    fixture_finish(&f);
}

/* So the table does not grow when another pool, or nobody, puts pieces. */
static void test_names_go_when_their_time_is_over(void)
{
    struct fixture f;

    fixture_init(&f);
    fixture_open_put(&f, UNIQUE);
    put(&f, UNIQUE, "a");
    put(&f, UNIQUE, "b");
    CU_ASSERT_STRING_EQUAL(fixture_ask(&f, "SELECT count(*) FROM seen"), "2");
    fixture_step_clock(HOUR_S + 1);
    fixture_wait_answer(&f, "SELECT count(*) FROM seen", "0");
    fixture_step_clock(-HOUR_S - 1);
    fixture_finish(&f);
}

static void test_duplicate_is_done_while_the_queue_is_full(void)
{
    static const char one[] = UNIQUE "\nlimit: 1";
    struct fixture f;

    fixture_init(&f);
    fixture_open_put(&f, one);
    put(&f, one, "a");
    put(&f, one, "a");
    CU_ASSERT_STRING_EQUAL(fixture_ask(&f, PIECES), "1");
    fixture_finish(&f);
}

/* So the same job can be sent again. A piece that is replayed does not count. */
static void test_name_of_a_dead_piece_may_be_stored(void)
{
    struct weir_outcome rejected = { .result = WEIR_OUTCOME_DEAD, .reason = "rejected" };
    struct fixture f;

    fixture_init(&f);
    fixture_open_put(&f, UNIQUE);
    put(&f, UNIQUE, "a");
    fixture_open_take(&f, "");
    (void)fixture_wait_taken(&f, 1);
    fixture_tell(&f, 0, &rejected);
    fixture_wait_answer(&f, "SELECT state FROM piece", "2");
    put(&f, UNIQUE, "a");
    (void)fixture_wait_taken(&f, 2);
    put(&f, UNIQUE, "a");
    CU_ASSERT_STRING_EQUAL(fixture_ask(&f, PIECES), "2");
    fixture_tell_done(&f, 1);
    fixture_wait_answer(&f, PIECES, "1");
    fixture_finish(&f);
}

/* The first one is not synced, since its pool lets a power failure take it. */
static void test_duplicate_is_as_safe_as_its_pool_says(void)
{
    static const char lazy[] = UNIQUE "\nsync: normal";
    struct fixture f;

    fixture_init(&f);
    fixture_open_take(&f, ""); /* so the hub stays */
    fixture_open_put(&f, UNIQUE);
    put(&f, UNIQUE, "first"); /* until then each commit syncs */
    fixture_close_put(&f);
    fixture_open_put(&f, lazy);
    put(&f, lazy, "a");
    CU_ASSERT_STRING_EQUAL(fixture_ask_disk(&f, PIECES), "1");
    fixture_close_put(&f);
    fixture_open_put(&f, UNIQUE);
    put(&f, UNIQUE, "a");
    CU_ASSERT_STRING_EQUAL(fixture_ask_disk(&f, PIECES), "2");
    fixture_finish(&f);
}

/* A commit that failed says nothing about what was stored. */
static void test_failed_sync_makes_no_duplicate(void)
{
    struct fixture f;

    fixture_init(&f);
    fixture_open_put(&f, UNIQUE);
    lost_writes_fail(1, 3);
    CU_ASSERT_EQUAL(fixture_put(&f, "a"), WEIR_KEEP);
    CU_ASSERT_EQUAL(fixture_put(&f, "a"), WEIR_KEEP);
    fixture_wait_stored(&f, 2);
    CU_ASSERT_STRING_EQUAL(fixture_ask(&f, PIECES), "1");
    fixture_finish(&f);
}

int main(int argc, char **argv)
{
    CU_TestInfo tests[] = {
        { "higher priority is taken first", test_higher_priority_is_taken_first },
        { "priority comes before what was read", test_priority_comes_before_what_was_read },
        { "old piece outranks a priority", test_old_piece_outranks_a_priority },
        { "clock that is set back changes no order", test_clock_that_is_set_back_changes_no_order },
        { "piece waits for after", test_piece_waits_for_after },
        { "second piece of an id is done and not stored",
          test_second_piece_of_an_id_is_done_and_not_stored },
        { "clock that is set back makes unique no longer",
          test_clock_that_is_set_back_makes_unique_no_longer },
        { "step back adds no more than unique", test_step_back_adds_no_more_than_unique },
        { "names go when their time is over", test_names_go_when_their_time_is_over },
        { "duplicate is done while the queue is full",
          test_duplicate_is_done_while_the_queue_is_full },
        { "name of a dead piece may be stored", test_name_of_a_dead_piece_may_be_stored },
        { "duplicate is as safe as its pool says", test_duplicate_is_as_safe_as_its_pool_says },
        { "failed sync makes no duplicate", test_failed_sync_makes_no_duplicate },
        CU_TEST_INFO_NULL,
    };

    return fixture_is_asked(argc, argv) ? 0 : suite_run("queue_order", tests);
}
