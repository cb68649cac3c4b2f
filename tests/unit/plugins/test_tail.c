/* SPDX-License-Identifier: MIT */
/*
 * Goal:   files.tail sends each line of files that grow once, over rotation and truncation, and its
 *         position stays before the first line that is not settled. Shows promise B15.
 * Method: files that the test writes and renames; its clock moves by one check after each change.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <weir/testkit.h>

#include "../host/suite.h"
#include "tail_fixture.h"

/* --- growth ----------------------------------------------------------------------------------- */

static void test_lines_come_as_files_grow(void)
{
    struct fixture f;

    fixture_begin(&f, "*.log", "");
    fixture_expect(&f, "");
    fixture_append_to(&f, "a.log", "one\ntwo\n");
    fixture_expect(&f, "one\ntwo\n");
    fixture_append_to(&f, "a.log", "thr");
    fixture_expect(&f, "");
    fixture_append_to(&f, "a.log", "ee\r\n\nfive\n");
    fixture_expect(&f, "three\n\nfive\n");
    CU_ASSERT_EQUAL(fixture_line_at(&f, 4)->number, 5);
    CU_ASSERT_EQUAL(fixture_line_at(&f, 4)->offset, 16);
    CU_ASSERT_STRING_EQUAL(files_line_name(fixture_line_at(&f, 4)),
                           scratch_path(&f.scratch, "a.log"));
    fixture_append_to(&f, "b.log", "other\n");
    fixture_expect(&f, "other\n");
    fixture_append_to(&f, "a.log", "six\n");
    fixture_expect(&f, "six\n");
    CU_ASSERT_EQUAL(weir_kit_emitted(f.kit, 0, 0)->key, weir_kit_emitted(f.kit, 0, 6)->key);
    CU_ASSERT_NOT_EQUAL(weir_kit_emitted(f.kit, 0, 0)->key, weir_kit_emitted(f.kit, 0, 5)->key);
    CU_ASSERT_PTR_NOT_NULL(strstr(weir_kit_inspect(f.kit, NULL), "files=2\nbehind_bytes=0\n"));
    fixture_finish(&f);
}

static void test_from_end_is_for_files_of_the_start(void)
{
    struct fixture f;

    scratch_init(&f.scratch);
    fixture_append_to(&f, "a.log", "old\nhalf");
    fixture_open_with(&f, "*.log", "from: end");
    fixture_expect(&f, "");
    fixture_append_to(&f, "a.log", " of it\nnew\n");
    fixture_append_to(&f, "b.log", "first\n");
    fixture_expect(&f, " of it\nnew\nfirst\n");
    fixture_finish(&f);
}

static void test_from_end_is_for_the_first_start_only(void)
{
    struct fixture f;

    fixture_begin(&f, "*.log", "from: end");
    fixture_expect(&f, "");
    fixture_crash(&f);
    fixture_restart(&f);
    fixture_append_to(&f, "a.log", "while no host runs\n");
    fixture_restart(&f);
    fixture_expect(&f, "while no host runs\n");
    fixture_finish(&f);
}

static void test_end_before_the_first_look_is_no_start(void)
{
    struct fixture f;

    fixture_begin(&f, "*.log", "from: end");
    fixture_append_to(&f, "a.log", "old\n");
    fixture_restart(&f);
    fixture_expect(&f, "");
    fixture_finish(&f);
}

/* Opens no file at all for one check. */
static void look_without_descriptors(struct fixture *f)
{
    struct rlimit before, none;
    int next = open("/dev/null", O_RDONLY | O_CLOEXEC);

    CU_ASSERT_EQUAL_FATAL(getrlimit(RLIMIT_NOFILE, &before), 0);
    CU_ASSERT_EQUAL(close(next), 0);
    none = (struct rlimit){ (rlim_t)next, before.rlim_max };
    CU_ASSERT_EQUAL(setrlimit(RLIMIT_NOFILE, &none), 0);
    fixture_look(f);
    CU_ASSERT_EQUAL(setrlimit(RLIMIT_NOFILE, &before), 0);
}

/* promise B25 */
static void test_file_that_lacks_a_descriptor_waits_and_is_reported_once(void)
{
    struct fixture f;

    scratch_init(&f.scratch);
    (void)snprintf(f.args, sizeof f.args, "paths: ['%s']", scratch_path(&f.scratch, "a.log"));
    fixture_start(&f);
    fixture_append_to(&f, "a.log", "one\n");
    for (int i = 0; i < 3; i++)
        look_without_descriptors(&f);
    CU_ASSERT_TRUE(weir_kit_has_logged(f.kit, WEIR_LOG_WARNING, "files wait"));
    CU_ASSERT_EQUAL(weir_kit_log_count(f.kit), 1);
    fixture_expect(&f, "one\n");
    CU_ASSERT_EQUAL(weir_kit_exit_status(f.kit), 0);
    /* Another shortage gives another warning. */
    fixture_look(&f);
    fixture_move(&f, "a.log", "other");
    fixture_append_to(&f, "a.log", "two\n");
    look_without_descriptors(&f);
    CU_ASSERT_EQUAL(weir_kit_log_count(f.kit), 2);
    fixture_expect(&f, "two\n");
    fixture_finish(&f);
}

static void test_line_that_is_too_long_is_skipped(void)
{
    struct fixture f;
    static char text[FILES_LINE_MAX + 2];

    memset(text, 'x', FILES_LINE_MAX + 1);
    fixture_begin(&f, "*.log", "");
    fixture_append_to(&f, "a.log", "one\n");
    fixture_append_to(&f, "a.log", text);
    fixture_expect(&f, "one\n");
    fixture_append_to(&f, "a.log", "tail\nthree\n");
    fixture_expect(&f, "three\n");
    CU_ASSERT_EQUAL(fixture_line_at(&f, 1)->number, 3);
    CU_ASSERT_TRUE(weir_kit_has_logged(f.kit, WEIR_LOG_WARNING, "line too long, skipped"));
    CU_ASSERT_EQUAL(weir_kit_exit_status(f.kit), 1);
    fixture_finish(&f);
}

/* --- rotation --------------------------------------------------------------------------------- */

static void test_renamed_file_is_read_to_its_end_before_the_new_one(void)
{
    struct fixture f;

    fixture_begin(&f, "a.log", "rotate_wait: 1s");
    fixture_append_to(&f, "a.log", "one\n");
    fixture_expect(&f, "one\n");
    fixture_append_to(&f, "a.log", "two\n");
    fixture_move(&f, "a.log", "a.log.1");
    fixture_append_to(&f, "a.log", "three\n");
    fixture_expect(&f, "two\nthree\n");
    fixture_append_to(&f, "a.log.1", "late\n");
    fixture_append_to(&f, "a.log", "four\n");
    fixture_expect(&f, "late\nfour\n");
    fixture_append_to(&f, "a.log.1", "half");
    fixture_expect(&f, "");
    for (int i = 0; i < 5; i++)
        fixture_look(&f);
    fixture_expect(&f, "half\n"); /* it grows no more */
    for (size_t i = 0; i < 7; i++)
        if (weir_kit_emitted(f.kit, 0, i))
            fixture_done(&f, i);
    fixture_look(&f);
    CU_ASSERT_PTR_NOT_NULL(strstr(weir_kit_inspect(f.kit, NULL), "files=1\n"));
    fixture_finish(&f);
}

static void test_renamed_file_that_still_matches_is_read_once(void)
{
    struct fixture f;

    fixture_begin(&f, "a.log*", "rotate_wait: 0s");
    fixture_append_to(&f, "a.log", "one\n");
    fixture_expect(&f, "one\n");
    fixture_done(&f, 0);
    for (int i = 0; i < 3; i++) {
        fixture_move(&f, "a.log", "a.log.1");
        fixture_append_to(&f, "a.log", "next\n");
        fixture_expect(&f, "next\n");
        fixture_done(&f, (size_t)i + 1);
        fixture_expect(&f, "");
    }
    fixture_finish(&f);
}

static void test_renamed_file_is_read_first_under_a_name_of_the_globs_too(void)
{
    struct fixture f;

    fixture_begin(&f, "a.log*", "rotate_wait: 0s");
    fixture_append_to(&f, "a.log", "one\n");
    fixture_expect(&f, "one\n");
    fixture_append_to(&f, "a.log", "two\n");
    fixture_move(&f, "a.log", "a.log.1");
    fixture_append_to(&f, "a.log", "three\n");
    fixture_expect(&f, "two\nthree\n");
    /* Two rotations: each file waits for the one before. */
    fixture_append_to(&f, "a.log.1", "four\n");
    fixture_append_to(&f, "a.log", "five\n");
    fixture_move(&f, "a.log.1", "a.log.2");
    fixture_move(&f, "a.log", "a.log.1");
    fixture_append_to(&f, "a.log", "six\n");
    fixture_expect(&f, "four\nfive\nsix\n");
    fixture_finish(&f);
}

static void test_truncated_file_is_read_from_its_start(void)
{
    struct fixture f;

    fixture_begin(&f, "a.log", "");
    fixture_append_to(&f, "a.log", "one\ntwo\n");
    fixture_expect(&f, "one\ntwo\n");
    (void)scratch_write(&f.scratch, "a.log", "new\n");
    fixture_expect(&f, "new\n");
    /* As long as before, or longer. */
    (void)scratch_write(&f.scratch, "a.log", "NEW\n");
    fixture_expect(&f, "NEW\n");
    (void)scratch_write(&f.scratch, "a.log", "again, and longer\n");
    fixture_expect(&f, "again, and longer\n");
    CU_ASSERT_TRUE(weir_kit_has_logged(f.kit, WEIR_LOG_INFO, "file was truncated"));
    fixture_finish(&f);
}

/* Between two checks, while lines that were read of the old content wait for room. */
static void test_truncation_in_the_middle_of_a_turn_is_seen(void)
{
    struct fixture f;

    fixture_begin(&f, "a.log", "");
    fixture_append_to(&f, "a.log", "one\ntwo\n");
    weir_kit_advance(f.kit, POLL_MS);
    CU_ASSERT_EQUAL(weir_kit_produce(f.kit, 1), WEIR_MORE);
    (void)scratch_write(&f.scratch, "a.log", "new content, and longer\n");
    fixture_expect(&f, "one\nnew content, and longer\n");
    fixture_finish(&f);
}

/* --- the position ----------------------------------------------------------------------------- */

static void save(struct fixture *f)
{
    for (int i = 0; i < 5; i++)
        fixture_look(f);
}

static void test_position_stays_before_the_first_line_that_is_not_settled(void)
{
    struct fixture f;

    fixture_begin(&f, "a.log", "");
    fixture_append_to(&f, "a.log", "one\ntwo\nthree\nfour\n");
    fixture_expect(&f, "one\ntwo\nthree\nfour\n");
    fixture_done(&f, 0);
    fixture_done(&f, 2);
    save(&f);
    fixture_crash(&f);
    fixture_expect(&f, "two\nthree\nfour\n");
    CU_ASSERT_EQUAL(fixture_line_at(&f, 0)->number, 2);
    for (size_t i = 0; i < 3; i++)
        fixture_done(&f, i);
    save(&f);
    fixture_crash(&f);
    fixture_expect(&f, "");
    fixture_append_to(&f, "a.log", "five\n");
    fixture_expect(&f, "five\n");
    CU_ASSERT_EQUAL(fixture_line_at(&f, 0)->number, 5);
    fixture_finish(&f);
}

static void test_end_in_the_middle_of_a_turn_repeats_nothing(void)
{
    struct fixture f;

    fixture_begin(&f, "a.log", "");
    fixture_append_to(&f, "a.log", "one\ntwo\nthree\nfour\n");
    weir_kit_advance(f.kit, POLL_MS);
    CU_ASSERT_EQUAL(weir_kit_produce(f.kit, 2), WEIR_MORE);
    fixture_done(&f, 0);
    fixture_done(&f, 1);
    fixture_restart(&f);
    fixture_expect(&f, "three\nfour\n");
    CU_ASSERT_EQUAL(fixture_line_at(&f, 0)->number, 3);
    fixture_finish(&f);
}

static void test_file_that_is_no_longer_in_paths_is_left(void)
{
    struct fixture f;

    fixture_begin(&f, "?.log", "");
    fixture_append_to(&f, "a.log", "one\n");
    fixture_append_to(&f, "b.log", "two\n");
    fixture_expect(&f, "one\ntwo\n");
    CU_ASSERT_EQUAL(weir_kit_destroy(f.kit), 0);
    fixture_open_with(&f, "b.log", "");
    fixture_expect(&f, "two\n");
    CU_ASSERT_TRUE(weir_kit_has_logged(f.kit, WEIR_LOG_INFO, "no longer in paths"));
    CU_ASSERT_EQUAL(weir_kit_exit_status(f.kit), 0);
    fixture_finish(&f);
}

static void test_file_that_was_renamed_meanwhile_is_found(void)
{
    struct fixture f;

    fixture_begin(&f, "a.log", "");
    fixture_append_to(&f, "a.log", "one\ntwo\n");
    fixture_expect(&f, "one\ntwo\n");
    fixture_done(&f, 0);
    save(&f);
    fixture_move(&f, "a.log", "moved");
    fixture_append_to(&f, "moved", "three\n");
    fixture_append_to(&f, "a.log", "four\n");
    fixture_crash(&f);
    fixture_expect(&f, "two\nthree\nfour\n");
    fixture_finish(&f);
}

static void test_file_that_was_replaced_or_is_gone_is_reported(void)
{
    struct fixture f;

    fixture_begin(&f, "a.log", "");
    fixture_append_to(&f, "a.log", "one\ntwo\n");
    fixture_expect(&f, "one\ntwo\n");
    fixture_done(&f, 0);
    save(&f);
    (void)scratch_write(&f.scratch, "a.log", "other content, same inode\n");
    fixture_crash(&f);
    CU_ASSERT_TRUE(
        weir_kit_has_logged(f.kit, WEIR_LOG_WARNING, "file of the position has changed"));
    CU_ASSERT_EQUAL(weir_kit_exit_status(f.kit), 1);
    fixture_expect(&f, "other content, same inode\n");
    fixture_finish(&f);
}

static void test_reload_continues_where_the_source_ended(void)
{
    struct fixture f;
    struct weir_kit *old;
    const void *position;
    size_t size;

    scratch_init(&f.scratch);
    (void)snprintf(f.args, sizeof f.args, "paths: ['%s']", scratch_path(&f.scratch, "a.log"));
    fixture_start(&f);
    fixture_append_to(&f, "a.log", "one\ntwo\n");
    fixture_expect(&f, "one\ntwo\n");
    fixture_done(&f, 0);
    fixture_done(&f, 1);
    weir_kit_close(f.kit, WEIR_END_REPLACED);
    position = weir_kit_left(f.kit, &size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(position);
    old = f.kit;
    fixture_start(&f);
    weir_kit_resume(f.kit, position, size);
    fixture_append_to(&f, "a.log", "three\n");
    fixture_expect(&f, "three\n");
    weir_kit_resume(f.kit, "nonsense", 8);
    CU_ASSERT_EQUAL(weir_kit_destroy(old), 0);
    fixture_finish(&f);
}

static void test_position_that_is_none_refuses_to_open(void)
{
    static const char *const texts[] = { "x",
                                         "weir files 1\nx",
                                         "weir files 1\n1 2 3 4 5 6 a\n",
                                         "weir files 1\n1 2 3 4 5 99 a\n",
                                         "weir files 1\n1 2 3 999 5 1 a\n",
                                         "weir files 2\n1 2 3 4 5 6 7 1 0 a\n",
                                         "weir files 2\n1 2 3 4 5 6 7 99 0 a \n",
                                         "weir files 2\n1 2 3 4 99999 65537 7 1 0 a \n",
                                         "weir files 3\n1 2 3 4 8 5 5 7 1 9 a b\n" };
    struct fixture f;

    fixture_begin(&f, "a.log", "");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        CU_ASSERT_EQUAL(weir_kit_destroy(f.kit), 0);
        (void)scratch_write(&f.scratch, "position", texts[i]);
        f.kit = weir_kit_create(&weir_plugin_v1, "tail");
        CU_ASSERT_EQUAL(weir_kit_open_args(f.kit, f.args), WEIR_EINVALID);
        CU_ASSERT_STRING_EQUAL(weir_kit_reason(f.kit), "the position file has an unknown format");
    }
    fixture_finish(&f);
}

static void expect_refusal(const char *position, const char *reason)
{
    struct fixture f;

    fixture_begin(&f, "a.log", "");
    CU_ASSERT_EQUAL(weir_kit_destroy(f.kit), 0);
    f.kit = weir_kit_create(&weir_plugin_v1, "tail");
    (void)snprintf(f.args, sizeof f.args, "paths: [a.log]\nposition: %s\n", position);
    CU_ASSERT_EQUAL(weir_kit_open_args(f.kit, f.args), WEIR_EINVALID);
    CU_ASSERT_STRING_EQUAL(weir_kit_reason(f.kit), reason);
    CU_ASSERT_TRUE(weir_kit_has_logged(f.kit, WEIR_LOG_ERROR, position)); /* not cut */
    fixture_finish(&f);
}

static void test_position_that_could_not_be_saved_refuses_to_open(void)
{
    expect_refusal("no/position", "position no/position: No such file or directory");
    expect_refusal(".", "position .: Is a directory");
    CU_ASSERT_EQUAL(remove("..lock"), 0);
}

/* A first start would skip lines, or send all again. */
static void test_empty_position_refuses_to_open(void)
{
    struct fixture f;

    fixture_begin(&f, "a.log", "from: end");
    CU_ASSERT_EQUAL(weir_kit_destroy(f.kit), 0);
    (void)scratch_write(&f.scratch, "position", "");
    f.kit = weir_kit_create(&weir_plugin_v1, "tail");
    CU_ASSERT_EQUAL(weir_kit_open_args(f.kit, f.args), WEIR_EINVALID);
    CU_ASSERT_TRUE(weir_kit_has_logged(f.kit, WEIR_LOG_ERROR, "is empty; remove it"));
    fixture_finish(&f);
}

static void test_names_of_any_bytes_are_in_the_position(void)
{
    struct fixture f;

    fixture_begin(&f, "a*", "");
    fixture_append_to(&f, "a b\nc 1", "one\ntwo\n");
    fixture_append_to(&f, "a", "three\n");
    fixture_look(&f);
    CU_ASSERT_EQUAL(weir_kit_sent_count(f.kit), 3);
    for (size_t i = 0; i < 3; i++)
        fixture_done(&f, i);
    save(&f);
    fixture_crash(&f);
    fixture_append_to(&f, "a b\nc 1", "four\n");
    fixture_expect(&f, "four\n");
    fixture_finish(&f);
}

static void test_name_that_begins_with_a_blank_is_in_the_position(void)
{
    struct fixture f;

    scratch_init(&f.scratch);
    CU_ASSERT_EQUAL_FATAL(chdir(f.scratch.path), 0);
    (void)snprintf(f.args, sizeof f.args, "paths: [' a.log']\nposition: position\n");
    fixture_start(&f);
    fixture_append_to(&f, " a.log", "one\n");
    fixture_expect(&f, "one\n");
    fixture_done(&f, 0);
    fixture_restart(&f);
    fixture_append_to(&f, " a.log", "two\n");
    fixture_expect(&f, "two\n");
    CU_ASSERT_EQUAL(weir_kit_destroy(f.kit), 0);
    CU_ASSERT_EQUAL(chdir("/"), 0);
    scratch_finish(&f.scratch);
}

/* --- outcomes and room ------------------------------------------------------------------------ */

static void test_lines_that_were_not_handled_come_again(void)
{
    struct fixture f;

    fixture_begin(&f, "a.log", "");
    fixture_append_to(&f, "a.log", "one\ntwo\nthree\nfour\n");
    fixture_expect(&f, "one\ntwo\nthree\nfour\n");
    fixture_settle(&f, weir_kit_sent(f.kit, 3)->token, WEIR_OUTCOME_DEAD, "output_full");
    fixture_settle(&f, weir_kit_sent(f.kit, 0)->token, WEIR_OUTCOME_RETRY, NULL);
    fixture_settle(&f, weir_kit_sent(f.kit, 1)->token, WEIR_OUTCOME_DEAD, "removed");
    fixture_settle(&f, weir_kit_sent(f.kit, 2)->token, WEIR_OUTCOME_DEAD, "rejected");
    fixture_expect(&f, "one\n");
    CU_ASSERT_EQUAL(weir_kit_emitted(f.kit, 0, 4)->attempt, 2);
    for (int i = 0; i < 3; i++)
        fixture_look(&f);
    fixture_expect(&f, "two\n");
    fixture_finish(&f);
}

static void settle_dead(struct fixture *f, size_t index, bool is_stored)
{
    const struct weir_outcome outcome = { .token = weir_kit_sent(f->kit, index)->token,
                                          .result = WEIR_OUTCOME_DEAD,
                                          .reason = "rejected",
                                          .is_stored = is_stored };

    CU_ASSERT_EQUAL(weir_kit_tell(f->kit, &outcome), 0);
}

/* promise B18 */
static void test_position_passes_a_dead_line_only_when_its_dead_letter_is_stored(void)
{
    struct fixture f;

    fixture_begin(&f, "a.log", "");
    fixture_append_to(&f, "a.log", "one\ntwo\nthree\n");
    fixture_expect(&f, "one\ntwo\nthree\n");
    settle_dead(&f, 0, true);
    settle_dead(&f, 1, false);
    fixture_done(&f, 2);
    CU_ASSERT_TRUE(weir_kit_has_logged(f.kit, WEIR_LOG_ERROR, "position stops at a dead line"));
    CU_ASSERT_PTR_NOT_NULL(strstr(weir_kit_inspect(f.kit, NULL), "stopped=1"));
    save(&f);
    fixture_crash(&f);
    fixture_expect(&f, "two\nthree\n");
    fixture_finish(&f);
}

/* promise B18 */
static void test_few_lines_lie_between_the_position_and_the_front(void)
{
    struct fixture f;

    fixture_begin(&f, "?.log", "unsettled: 3");
    fixture_append_to(&f, "a.log", "1\n2\n3\n4\n5\n6\n7\n");
    fixture_expect(&f, "1\n2\n3\n");
    fixture_done(&f, 1);
    fixture_done(&f, 2);
    fixture_expect(&f, ""); /* the first one is not settled */
    fixture_append_to(&f, "b.log", "other\n");
    fixture_expect(&f, "other\n"); /* another file does not wait for it */
    fixture_done(&f, 0);
    fixture_expect(&f, "4\n5\n");
    fixture_finish(&f);
}

static void test_source_waits_for_room_and_for_outcomes(void)
{
    struct fixture f;

    fixture_begin(&f, "a.log", "unsettled: 2");
    fixture_append_to(&f, "a.log", "one\ntwo\nthree\nfour\n");
    fixture_expect(&f, "one\ntwo\n");
    fixture_expect(&f, "");
    fixture_done(&f, 0);
    fixture_expect(&f, "three\n");
    fixture_done(&f, 1);
    weir_kit_limit(f.kit, 0, WEIR_EFULL);
    weir_kit_advance(f.kit, POLL_MS);
    CU_ASSERT_EQUAL(weir_kit_produce(f.kit, 3), WEIR_MORE);
    weir_kit_limit(f.kit, UINT32_MAX, 0);
    fixture_expect(&f, "four\n");
    fixture_finish(&f);
}

static void test_memory_that_is_out_loses_no_line(void)
{
    for (uint32_t nth = 1; nth <= 4; nth++) {
        struct fixture f;

        fixture_begin(&f, "a.log", "");
        fixture_append_to(&f, "a.log", "one\ntwo\n");
        weir_kit_advance(f.kit, POLL_MS);
        weir_kit_fail_allocation(f.kit, nth);
        CU_ASSERT_TRUE(weir_kit_produce(f.kit, 3) != WEIR_END);
        fixture_expect(&f, "one\ntwo\n");
        fixture_finish(&f);
    }
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "growth", test_lines_come_as_files_grow },
        { "from: end", test_from_end_is_for_files_of_the_start },
        { "from: end, again", test_from_end_is_for_the_first_start_only },
        { "from: end, no look", test_end_before_the_first_look_is_no_start },
        { "no descriptor", test_file_that_lacks_a_descriptor_waits_and_is_reported_once },
        { "too long", test_line_that_is_too_long_is_skipped },
        { "rotation", test_renamed_file_is_read_to_its_end_before_the_new_one },
        { "rotation within the globs", test_renamed_file_that_still_matches_is_read_once },
        { "order within the globs", test_renamed_file_is_read_first_under_a_name_of_the_globs_too },
        { "truncation", test_truncated_file_is_read_from_its_start },
        { "truncation in a turn", test_truncation_in_the_middle_of_a_turn_is_seen },
        { "position", test_position_stays_before_the_first_line_that_is_not_settled },
        { "end in a turn", test_end_in_the_middle_of_a_turn_repeats_nothing },
        { "no longer in paths", test_file_that_is_no_longer_in_paths_is_left },
        { "renamed meanwhile", test_file_that_was_renamed_meanwhile_is_found },
        { "replaced meanwhile", test_file_that_was_replaced_or_is_gone_is_reported },
        { "reload", test_reload_continues_where_the_source_ended },
        { "no position", test_position_that_is_none_refuses_to_open },
        { "empty position", test_empty_position_refuses_to_open },
        { "no folder", test_position_that_could_not_be_saved_refuses_to_open },
        { "names of any bytes", test_names_of_any_bytes_are_in_the_position },
        { "leading blank", test_name_that_begins_with_a_blank_is_in_the_position },
        { "lines that come again", test_lines_that_were_not_handled_come_again },
        { "dead lines", test_position_passes_a_dead_line_only_when_its_dead_letter_is_stored },
        { "window", test_few_lines_lie_between_the_position_and_the_front },
        { "room", test_source_waits_for_room_and_for_outcomes },
        { "memory", test_memory_that_is_out_loses_no_line },
        CU_TEST_INFO_NULL,
    };

    return suite_run("plugin files.tail", tests);
}
