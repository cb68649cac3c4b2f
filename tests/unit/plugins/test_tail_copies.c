/* SPDX-License-Identifier: MIT */
/*
 * Goal:   files.tail with `paths` that match the copies of copytruncate, too, sends each line once,
 *         in whatever order it sees the copy and the truncation, and without a host in between.
 *         Shows promise B23.
 * Method: the test copies, truncates and looks in each order. A copy that nobody truncates is a
 *         file of its own, after `rotate_wait`.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <weir/testkit.h>

#include "../host/suite.h"
#include "tail_fixture.h"

static void begin(struct fixture *f, const char *more)
{
    fixture_begin(f, "app*", more);
    fixture_append_to(f, "app.log", "one\ntwo\n");
    fixture_expect(f, "one\ntwo\n");
}

static void copy(struct fixture *f, const char *to, size_t size)
{
    char *text = scratch_read(&f->scratch, "app.log");

    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    (void)scratch_write_size(&f->scratch, to, text, size < strlen(text) ? size : strlen(text));
    free(text);
}

static void empty(struct fixture *f)
{
    CU_ASSERT_EQUAL(truncate(scratch_path(&f->scratch, "app.log"), 0), 0);
}

/* All names that logrotate gives. */
static const char *const names[] = { "app.log.1", "app.log-20261126", "app-20261126.log",
                                     "app.1.log" };

static void test_copy_and_truncation_between_two_looks(void)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct fixture f;

        begin(&f, "");
        fixture_append_to(&f, "app.log", "three\n"); /* found in the copy only */
        copy(&f, names[i], 100);
        empty(&f);
        fixture_append_to(&f, "app.log", "four\n");
        fixture_look(&f);
        fixture_look(&f);
        CU_ASSERT_EQUAL(weir_kit_sent_count(f.kit), 4);
        fixture_finish(&f);
    }
}

/* promise B15: the lines of a file that was copied and truncated were on their way. */
static void test_position_of_the_copy_is_before_the_lines_that_are_not_settled(void)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct fixture f;

        begin(&f, "save_every: 0s");
        copy(&f, names[i], 100);
        empty(&f);
        fixture_append_to(&f, "app.log", "three\n");
        fixture_expect(&f, "three\n");
        fixture_done(&f, 1); /* two */
        fixture_done(&f, 2);
        fixture_look(&f);
        fixture_crash(&f);
        fixture_expect(&f, "one\ntwo\n");
        fixture_finish(&f);
    }
}

static void test_copy_is_seen_while_it_is_made(void)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct fixture f;

        begin(&f, "");
        for (size_t size = 0; size <= 8; size += 4) {
            copy(&f, names[i], size);
            fixture_expect(&f, "");
        }
        empty(&f);
        fixture_expect(&f, "");
        fixture_append_to(&f, "app.log", "three\n");
        fixture_append_to(&f, names[i], "late\n");
        fixture_look(&f);
        fixture_look(&f);
        CU_ASSERT_EQUAL(weir_kit_sent_count(f.kit), 4);
        fixture_finish(&f);
    }
}

static void test_copy_and_truncation_while_no_host_runs(void)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct fixture f;

        begin(&f, "");
        fixture_done(&f, 0);
        fixture_done(&f, 1);
        CU_ASSERT_EQUAL(weir_kit_destroy(f.kit), 0);
        fixture_append_to(&f, "app.log", "three\n");
        copy(&f, names[i], 100);
        empty(&f);
        fixture_append_to(&f, "app.log", "four\n");
        fixture_start(&f);
        fixture_look(&f);
        CU_ASSERT_EQUAL(weir_kit_sent_count(f.kit), 2);
        CU_ASSERT_EQUAL(weir_kit_exit_status(f.kit), 0);
        fixture_finish(&f);
    }
}

/* Nobody truncates the original: both are files. */
static void test_copy_without_a_truncation_is_a_file(void)
{
    struct fixture f;
    time_t end = time(NULL) + 30;

    begin(&f, "rotate_wait: 1ms");
    copy(&f, "app.log.1", 100);
    while (weir_kit_sent_count(f.kit) < 4 && time(NULL) < end)
        fixture_look(&f);
    fixture_expect(&f, "one\ntwo\n");
    fixture_finish(&f);
}

/* The same banner makes no copy. */
static void test_file_that_only_begins_alike_is_a_file(void)
{
    struct fixture f;

    begin(&f, "");
    fixture_append_to(&f, "app.log.new", "one\ntwo\nother\n");
    fixture_append_to(&f, "app-2.log", "one\nother\n");
    fixture_append_to(&f, "apple", "one\ntwo\n"); /* another name */
    empty(&f);
    fixture_append_to(&f, "app.log", "one\n");
    fixture_look(&f);
    fixture_look(&f);
    CU_ASSERT_TRUE(weir_kit_sent_count(f.kit) >= 2 + 1 + 2 + 1);
    fixture_finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "lines on their way",
          test_position_of_the_copy_is_before_the_lines_that_are_not_settled },
        { "between two looks", test_copy_and_truncation_between_two_looks },
        { "while it is made", test_copy_is_seen_while_it_is_made },
        { "no host", test_copy_and_truncation_while_no_host_runs },
        { "no truncation", test_copy_without_a_truncation_is_a_file },
        { "same start", test_file_that_only_begins_alike_is_a_file },
        CU_TEST_INFO_NULL,
    };

    return suite_run("plugin files tail copies", tests);
}
