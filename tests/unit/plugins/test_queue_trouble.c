/* SPDX-License-Identifier: MIT */
/*
 * Goal:   retries wait as long as they are to, also when the clock is set, and keep their place in
 *         the order; a power failure takes nothing that is done; a sync that fails settles nothing,
 *         loses nothing and stores nothing twice; closing another descriptor of the file, and
 *         another program that reads it, take no lock away; a lock that could not be given back is
 *         given back later, and a socket that could not be made is made later. Shows promises B85,
 *         B86, B87 and B153.
 * Method: both behaviours in the test kit, with the real thread and the real file. The program has
 *         a clock_gettime that the test steps, and a disk whose syncs fail when the test says so.
 */
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../host/suite.h"
#include "queue_fixture.h"

#define HOUR_S 3600
#define LATER "SELECT attempt, delay FROM piece WHERE state=1"
#define NAMES "SELECT count(*), count(DISTINCT name) FROM piece"

/* --- retries ---------------------------------------------------------------------------------- */

static void put_and_take(struct fixture *f, const char *more)
{
    fixture_init(f);
    fixture_open_put(f, "min_free: 0");
    CU_ASSERT_EQUAL(fixture_put(f, "first"), WEIR_KEEP);
    fixture_wait_stored(f, 1);
    fixture_open_take(f, more);
    fixture_expect_taken(f, 0, "first");
}

static void retry(struct fixture *f, size_t index, uint64_t delay_ms)
{
    struct weir_outcome outcome = { .result = WEIR_OUTCOME_RETRY, .delay_ms = delay_ms };

    fixture_tell(f, index, &outcome);
}

static void test_backoff_doubles_up_to_its_limit(void)
{
    struct fixture f;

    put_and_take(&f, "backoff: 1h\nbackoff_max: 3h");
    retry(&f, 0, 0);
    fixture_wait_answer(&f, LATER, "2 3600000");
    fixture_step_clock(HOUR_S + 1);
    fixture_expect_taken(&f, 1, "first");
    CU_ASSERT_EQUAL(weir_kit_emitted(f.take, 0, 1)->attempt, 2);
    retry(&f, 1, 0);
    fixture_wait_answer(&f, LATER, "3 7200000");
    fixture_step_clock(2 * HOUR_S + 1);
    fixture_expect_taken(&f, 2, "first");
    retry(&f, 2, 0);
    fixture_wait_answer(&f, LATER, "4 10800000");
    fixture_finish(&f);
}

static void test_retry_after_the_last_attempt_is_dead(void)
{
    struct fixture f;

    put_and_take(&f, "attempts: 2");
    retry(&f, 0, 1);
    fixture_expect_taken(&f, 1, "first");
    retry(&f, 1, 1);
    fixture_wait_answer(&f, "SELECT state, attempt, reason FROM piece", "2 2 attempts");
    CU_ASSERT_TRUE(weir_kit_has_logged(f.take, WEIR_LOG_WARNING, "piece is dead"));
    fixture_finish(&f);
}

static void test_delay_of_the_worker_counts_instead_of_the_backoff(void)
{
    struct fixture f;
    int64_t before, took;

    put_and_take(&f, "backoff: 1h\nbackoff_max: 3h");
    before = fixture_now_ms();
    retry(&f, 0, 300);
    fixture_expect_taken(&f, 1, "first");
    took = fixture_now_ms() - before;
    CU_ASSERT_TRUE(took >= 300);
    retry(&f, 1, 7 * 86400000ULL);
    fixture_wait_answer(&f, LATER, "3 604800000");
    fixture_finish(&f);
}

static void test_retry_waits_over_a_restart_and_keeps_its_rank(void)
{
    struct fixture f;

    put_and_take(&f, "backoff: 1h");
    retry(&f, 0, 0);
    CU_ASSERT_EQUAL(fixture_put(&f, "second"), WEIR_KEEP);
    fixture_wait_stored(&f, 2);
    fixture_expect_taken(&f, 1, "second"); /* while the first one waits */
    fixture_wait_answer(&f, LATER, "2 3600000");
    fixture_close_put(&f);
    fixture_close_take(&f);
    fixture_step_clock(HOUR_S + 1);
    fixture_open_take(&f, "window: 1");
    while (!weir_kit_emitted(f.take, 0, 0))
        fixture_turn(&f);
    /* The hub may read before it looks at the clock. */
    if (memcmp(weir_kit_emitted(f.take, 0, 0)->data, "first", 5) != 0) {
        fixture_tell_done(&f, 0);
        (void)fixture_wait_taken(&f, 2);
    }
    CU_ASSERT_STRING_EQUAL(
        fixture_ask(&f, "SELECT CAST(payload AS TEXT) FROM piece ORDER BY rank, id LIMIT 1"),
        "first");
    fixture_finish(&f);
}

static void test_clock_set_back_adds_no_more_than_the_delay(void)
{
    struct fixture f;
    char sql[128];

    put_and_take(&f, "backoff: 1h");
    retry(&f, 0, 0);
    fixture_wait_answer(&f, LATER, "2 3600000");
    fixture_step_clock(-10 * HOUR_S);
    CU_ASSERT_EQUAL(fixture_put(&f, "second"), WEIR_KEEP);
    fixture_wait_stored(&f, 2);
    (void)snprintf(sql, sizeof sql, "SELECT due - delay <= %lld FROM piece WHERE state=1",
                   (long long)fixture_now_ms());
    CU_ASSERT_STRING_EQUAL(fixture_ask(&f, sql), "1");
    fixture_finish(&f);
}

static void test_clock_set_back_changes_no_order(void)
{
    struct fixture f;

    fixture_init(&f);
    fixture_open_put(&f, "min_free: 0");
    CU_ASSERT_EQUAL(fixture_put(&f, "first"), WEIR_KEEP);
    fixture_wait_stored(&f, 1);
    fixture_close_put(&f);
    fixture_step_clock(-10 * HOUR_S);
    fixture_open_put(&f, "min_free: 0");
    CU_ASSERT_EQUAL(fixture_put(&f, "second"), WEIR_KEEP);
    fixture_wait_stored(&f, 1);
    fixture_open_take(&f, "");
    fixture_expect_taken(&f, 0, "first");
    fixture_expect_taken(&f, 1, "second");
    fixture_finish(&f);
}

/* --- syncs that fail -------------------------------------------------------------------------- */

#define PUTS 4u
#define LARGE 1100000u /* PUTS of it are more than the 1,000 pages that a WAL may have */

static void expect_on_disk(struct fixture *f, uint32_t count)
{
    char answer[32];

    (void)snprintf(answer, sizeof answer, "%u %u", count, count);
    CU_ASSERT_STRING_EQUAL(fixture_ask_disk(f, NAMES), answer);
}

/* Puts, takes and removes while `count` syncs from the nth on fail. Returns how many failed. */
static uint32_t work_with_failures(uint32_t nth, uint32_t count, size_t size)
{
    static char text[LARGE];
    uint32_t failed;
    struct fixture f;

    fixture_init(&f);
    fixture_open_put(&f, "min_free: 0");
    lost_writes_fail(nth, count);
    for (uint32_t i = 0; i < PUTS; i++) {
        memset(text, '0' + (int)i, size);
        CU_ASSERT_EQUAL(weir_kit_handle(f.put, NULL, text, size), WEIR_KEEP);
        fixture_wait_stored(&f, i + 1);
        expect_on_disk(&f, i + 1);
    }
    CU_ASSERT_STRING_EQUAL(fixture_ask(&f, NAMES), "4 4");
    fixture_open_take(&f, "");
    for (uint32_t i = 0; i < PUTS; i++) {
        memset(text, '0' + (int)i, size);
        CU_ASSERT_EQUAL(fixture_wait_taken(&f, i + 1)->size, size);
        CU_ASSERT_EQUAL(memcmp(weir_kit_emitted(f.take, 0, i)->data, text, size), 0);
        fixture_tell_done(&f, i);
    }
    fixture_wait_answer(&f, NAMES, "0 0");
    CU_ASSERT_PTR_NULL(weir_kit_emitted(f.take, 0, PUTS));
    failed = lost_writes_failed();
    fixture_finish(&f);
    return failed;
}

static uint32_t work_with_each_failure(size_t size)
{
    uint32_t nth = 1;

    while (work_with_failures(nth, 1, size) > 0)
        nth++;
    return nth - 1;
}

static void test_each_sync_that_fails_loses_nothing(void)
{
    CU_ASSERT_TRUE(work_with_each_failure(100) >= PUTS); /* at least one for each piece */
}

/* Then the WAL is copied into the file, with syncs of its own. */
static void test_each_sync_that_fails_with_a_large_log_loses_nothing(void)
{
    CU_ASSERT_TRUE(work_with_each_failure(LARGE) >= PUTS + 2);
}

static void test_syncs_that_fail_in_a_row_lose_nothing(void)
{
    CU_ASSERT_EQUAL(work_with_failures(1, 3, 100), 3);
    CU_ASSERT_EQUAL(work_with_failures(2, 4, 100), 4);
}

static void test_nothing_is_done_while_syncs_fail(void)
{
    struct fixture f;

    fixture_init(&f);
    fixture_open_put(&f, "min_free: 0");
    lost_writes_fail(1, UINT32_MAX);
    CU_ASSERT_EQUAL(fixture_put(&f, "first"), WEIR_KEEP);
    while (lost_writes_failed() < 3)
        fixture_turn(&f);
    while (!weir_kit_has_logged(f.put, WEIR_LOG_ERROR, "pieces cannot be stored"))
        fixture_turn(&f);
    CU_ASSERT_EQUAL(weir_kit_settled_count(f.put, WEIR_DONE), 0);
    CU_ASSERT_EQUAL(weir_kit_kept_count(f.put), 1);
    lost_writes_fail(0, 0);
    fixture_wait_stored(&f, 1);
    while (!weir_kit_has_logged(f.put, WEIR_LOG_INFO, "pieces are stored again"))
        fixture_turn(&f);
    CU_ASSERT_STRING_EQUAL(fixture_ask(&f, NAMES), "1 1");
    fixture_finish(&f);
}

static void test_dead_letter_of_a_piece_in_doubt_names_it(void)
{
    struct fixture f;

    fixture_init(&f);
    fixture_open_put(&f, "min_free: 0");
    lost_writes_fail(1, UINT32_MAX);
    CU_ASSERT_EQUAL(fixture_put(&f, "first"), WEIR_KEEP);
    while (lost_writes_failed() < 2) /* then the first commit is over */
        fixture_turn(&f);
    while (weir_kit_leave(f.put) != WEIR_END)
        weir_kit_advance(f.put, 1000);
    CU_ASSERT_EQUAL(weir_kit_settled_count(f.put, WEIR_REJECT), 1);
    CU_ASSERT_EQUAL(strncmp(weir_kit_reason(f.put), "may be stored: ", 15), 0);
    CU_ASSERT_EQUAL(weir_kit_kept_count(f.put), 0);
    fixture_finish(&f);
}

/* The process is stopped at each sync, and the disk is read as a power failure leaves it then. */
static void test_power_failure_at_any_sync_loses_nothing_that_was_done(void)
{
    static char text[LARGE + 1];
    struct fixture f;
    size_t done = 0, put = 0;
    uint32_t looks = 0;
    char sql[64];

    memset(text, 'x', LARGE); /* so that the WAL is copied into the file meanwhile */
    fixture_init(&f);
    fixture_open_put(&f, "min_free: 0");
    lost_writes_step();
    while (done < PUTS) {
        if (put == done) {
            CU_ASSERT_EQUAL(fixture_put(&f, text), WEIR_KEEP);
            put++;
        }
        fixture_begin_wait(&f);
        while (!lost_writes_is_holding() && weir_kit_settled_count(f.put, WEIR_DONE) == done)
            fixture_turn(&f);
        done = weir_kit_settled_count(f.put, WEIR_DONE);
        (void)snprintf(sql, sizeof sql, "SELECT count(*) >= %zu FROM piece", done);
        if (done > 0)
            CU_ASSERT_STRING_EQUAL(fixture_ask_disk(&f, sql), "1");
        looks += lost_writes_is_holding();
        lost_writes_step();
    }
    CU_ASSERT_TRUE(looks >= PUTS + 2);
    lost_writes_go_on();
    fixture_finish(&f);
}

/* --- a page that is damaged ------------------------------------------------------------------- */

#define OPENS 3u

/* The file, but not the first pages, which have the tables. */
static void damage(const char *path)
{
    static const char wrong[64] = { 0x7f, 0x7f, 0x7f, 0x7f };
    int descriptor = open(path, O_RDWR | O_CLOEXEC);
    struct stat about;

    CU_ASSERT_EQUAL(fstat(descriptor, &about), 0);
    CU_ASSERT_TRUE(about.st_size > (off_t)4 * LARGE);
    for (off_t at = (off_t)4096 * 500; at < about.st_size; at += 4096)
        CU_ASSERT_EQUAL(pwrite(descriptor, wrong, sizeof wrong, at), sizeof wrong);
    CU_ASSERT_EQUAL(close(descriptor), 0);
}

static void wait_open(struct fixture *f, int watch)
{
    char event[sizeof(struct inotify_event) + NAME_MAX + 1];

    fixture_begin_wait(f);
    while (read(watch, event, sizeof event) < 0)
        fixture_turn(f);
}

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;

    for (const char *at = strstr(text, part); at; at = strstr(at + 1, part))
        count++;
    return count;
}

/* Each look opens the file again, and works until the page is read. */
static void test_damaged_page_is_looked_at_less_and_less_often(void)
{
    static char text[LARGE];
    struct fixture f;
    struct timespec began, ended;
    int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);

    fixture_init(&f);
    fixture_open_put(&f, "min_free: 0");
    for (uint32_t i = 0; i < 5; i++)
        CU_ASSERT_EQUAL(weir_kit_handle(f.put, NULL, text, sizeof text), WEIR_KEEP);
    fixture_wait_stored(&f, 5);
    fixture_close_put(&f); /* no WAL has the pages */
    fixture_open_put(&f, "min_free: 0");
    damage(f.path);
    CU_ASSERT_TRUE(inotify_add_watch(watch, f.path, IN_OPEN) >= 0);
    (void)clock_gettime(CLOCK_MONOTONIC, &began); /* not after the first look, which is seen late */
    fixture_open_take(&f, "");
    wait_open(&f, watch);
    for (uint32_t i = 0; i < OPENS; i++)
        wait_open(&f, watch);
    (void)clock_gettime(CLOCK_MONOTONIC, &ended);
    CU_ASSERT_TRUE((ended.tv_sec - began.tv_sec) * 1000 +
                       (ended.tv_nsec - began.tv_nsec) / 1000000 >=
                   400 + 800 + 1600);
    CU_ASSERT_EQUAL(count_of(weir_kit_logged(f.put), "pieces cannot be stored") +
                        count_of(weir_kit_logged(f.take), "pieces cannot be stored"),
                    1);
    CU_ASSERT_FALSE(weir_kit_has_logged(f.put, WEIR_LOG_INFO, "stored again"));
    CU_ASSERT_FALSE(weir_kit_has_logged(f.take, WEIR_LOG_INFO, "stored again"));
    (void)close(watch);
    fixture_finish(&f);
}

/* --- another file ----------------------------------------------------------------------------- */

static void *open_slowly(void *context)
{
    fixture_open_take(context, "");
    return NULL;
}

/* As when a large file is read for damage. */
static void test_file_that_opens_slowly_holds_up_no_other(void)
{
    struct weir_kit *other = weir_kit_create(&weir_plugin_v1, "put");
    struct fixture f;
    pthread_t thread;

    fixture_init(&f);
    lost_writes_hold();
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, open_slowly, &f), 0);
    lost_writes_wait_holding();
    CU_ASSERT_EQUAL(weir_kit_open_format(other, "file: '%s-other'\nqueue: q", f.path), 0);
    CU_ASSERT_TRUE(lost_writes_is_holding());
    lost_writes_go_on();
    CU_ASSERT_EQUAL(pthread_join(thread, NULL), 0);
    CU_ASSERT_EQUAL(weir_kit_destroy(other), 0);
    fixture_finish(&f);
}

/* --- locks ------------------------------------------------------------------------------------ */

static struct stat about_log(struct fixture *f)
{
    char path[600];
    struct stat about = { .st_ino = 0 };

    (void)snprintf(path, sizeof path, "%s-wal", f->path);
    CU_ASSERT_EQUAL(stat(path, &about), 0);
    return about;
}

static void close_another(const char *path, const char *suffix)
{
    char name[600];
    int descriptor;

    (void)snprintf(name, sizeof name, "%s%s", path, suffix);
    descriptor = open(name, O_RDWR | O_CLOEXEC);
    CU_ASSERT_TRUE(descriptor >= 0);
    CU_ASSERT_EQUAL(close(descriptor), 0);
}

/* With locks of the process, the other program would be the last one that closes the file: it would
 * remove the WAL, and with it what is committed later. */
static void test_locks_stay_when_another_descriptor_is_closed(void)
{
    struct fixture f;
    struct stat before, after;

    fixture_init(&f);
    fixture_open_put(&f, "min_free: 0");
    CU_ASSERT_EQUAL(fixture_put(&f, "first"), WEIR_KEEP);
    fixture_wait_stored(&f, 1);
    before = about_log(&f);
    close_another(f.path, "");
    close_another(f.path, "-shm");
    CU_ASSERT_STRING_EQUAL(fixture_ask(&f, NAMES), "1 1");
    after = about_log(&f);
    CU_ASSERT_EQUAL(after.st_ino, before.st_ino);
    CU_ASSERT_TRUE(after.st_size >= before.st_size);
    CU_ASSERT_EQUAL(fixture_put(&f, "second"), WEIR_KEEP);
    fixture_wait_stored(&f, 2);
    CU_ASSERT_STRING_EQUAL(fixture_ask(&f, NAMES), "2 2");
    CU_ASSERT_FALSE(weir_kit_has_logged(f.put, WEIR_LOG_ERROR, "pieces cannot be stored"));
    fixture_finish(&f);
}

/* SQLite would wait for ever for a lock that it holds itself. */
static void test_lock_is_given_back_at_the_second_try(void)
{
    struct fixture f;

    fixture_fail_unlocks_first(true);
    fixture_init(&f);
    fixture_open_put(&f, "min_free: 0");
    CU_ASSERT_EQUAL(fixture_put(&f, "first"), WEIR_KEEP);
    fixture_wait_stored(&f, 1);
    CU_ASSERT_STRING_EQUAL(fixture_ask(&f, NAMES), "1 1");
    CU_ASSERT_EQUAL(fixture_put(&f, "second"), WEIR_KEEP);
    fixture_wait_stored(&f, 2);
    fixture_finish(&f);
    fixture_fail_unlocks_first(false);
}

/* --- the socket of `weir queue` --------------------------------------------------------------- */

#define TRIES 4u /* more than an idle hub has wakes at its start */

static bool has_socket(const struct fixture *f)
{
    char name[600];
    struct stat about;

    (void)snprintf(name, sizeof name, "%s.sock", f->path);
    return lstat(name, &about) == 0 && S_ISSOCK(about.st_mode);
}

static void test_socket_is_made_while_the_hub_is_idle(void)
{
    struct fixture f;

    fixture_init(&f);
    fixture_fail_sockets(TRIES);
    fixture_open_put(&f, "min_free: 0");
    for (uint32_t left = TRIES; left > 0; left--) {
        fixture_begin_wait(&f); /* the limit is for each try */
        while (fixture_sockets_to_fail() >= left)
            fixture_turn(&f);
    }
    fixture_begin_wait(&f);
    while (!has_socket(&f))
        fixture_turn(&f);
    fixture_finish(&f);
}

int main(int argc, char **argv)
{
    CU_TestInfo tests[] = {
        { "backoff doubles up to its limit", test_backoff_doubles_up_to_its_limit },
        { "retry after the last attempt is dead", test_retry_after_the_last_attempt_is_dead },
        { "delay of the worker counts instead of the backoff",
          test_delay_of_the_worker_counts_instead_of_the_backoff },
        { "retry waits over a restart and keeps its rank",
          test_retry_waits_over_a_restart_and_keeps_its_rank },
        { "clock set back adds no more than the delay",
          test_clock_set_back_adds_no_more_than_the_delay },
        { "clock set back changes no order", test_clock_set_back_changes_no_order },
        { "each sync that fails loses nothing", test_each_sync_that_fails_loses_nothing },
        { "each sync that fails with a large log loses nothing",
          test_each_sync_that_fails_with_a_large_log_loses_nothing },
        { "syncs that fail in a row lose nothing", test_syncs_that_fail_in_a_row_lose_nothing },
        { "nothing is done while syncs fail", test_nothing_is_done_while_syncs_fail },
        { "dead letter of a piece in doubt names it",
          test_dead_letter_of_a_piece_in_doubt_names_it },
        { "damaged page is looked at less and less often",
          test_damaged_page_is_looked_at_less_and_less_often },
        { "power failure at any sync loses nothing that was done",
          test_power_failure_at_any_sync_loses_nothing_that_was_done },
        { "file that opens slowly holds up no other",
          test_file_that_opens_slowly_holds_up_no_other },
        { "locks stay when another descriptor is closed",
          test_locks_stay_when_another_descriptor_is_closed },
        { "lock is given back at the second try", test_lock_is_given_back_at_the_second_try },
        { "socket is made while the hub is idle", test_socket_is_made_while_the_hub_is_idle },
        CU_TEST_INFO_NULL,
    };

    return fixture_is_asked(argc, argv) ? 0 : suite_run("queue trouble", tests);
}
