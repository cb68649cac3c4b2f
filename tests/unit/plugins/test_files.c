/* SPDX-License-Identifier: MIT */
/*
 * Goal: files.lines sends every line of every matching file once, in order, within its credit, and
 * reports files that it could not read.
 * Method: small files in a directory of the test's own; the kit gives credit, refuses messages or
 * runs out of memory at a chosen moment.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weir/testkit.h>

#include "../../../plugins/files/files.h"
#include "../host/suite.h"
#include "scratch.h"

extern const struct weir_plugin weir_plugin_v1;

static void expect_line(struct weir_kit *kit, size_t index, struct scratch *scratch,
                        const char *name, const char *text, uint64_t number)
{
    const struct files_line *line;

    CU_ASSERT_FATAL(index < weir_kit_sent_count(kit));
    CU_ASSERT_EQUAL(weir_kit_sent(kit, index)->output, 0);
    CU_ASSERT_STRING_EQUAL(weir_kit_sent(kit, index)->message->tag->name, FILES_LINE_TAG);
    line = files_line_get(weir_kit_sent(kit, index)->message);
    CU_ASSERT_PTR_NOT_NULL_FATAL(line);
    CU_ASSERT_STRING_EQUAL(files_line_name(line), scratch_path(scratch, name));
    CU_ASSERT_STRING_EQUAL(files_line_text(line), text);
    CU_ASSERT_EQUAL(line->line_size, strlen(text));
    CU_ASSERT_EQUAL(line->number, number);
}

/* A worker over `b.txt` and `a.txt` of the scratch directory, opened. */
static struct weir_kit *start_with_two_files(struct scratch *scratch)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "lines");

    scratch_init(scratch);
    (void)scratch_write(scratch, "b.txt", "b1\nb2\n");
    (void)scratch_write(scratch, "a.txt", "a1\r\na2");
    CU_ASSERT_EQUAL_FATAL(weir_kit_open_format(kit, "paths: [%s]", scratch_path(scratch, "*.txt")),
                          0);
    return kit;
}

static void expect_two_files(struct weir_kit *kit, struct scratch *scratch)
{
    CU_ASSERT_EQUAL_FATAL(weir_kit_sent_count(kit), 4);
    expect_line(kit, 0, scratch, "a.txt", "a1", 1);
    expect_line(kit, 1, scratch, "a.txt", "a2", 2);
    expect_line(kit, 2, scratch, "b.txt", "b1", 1);
    expect_line(kit, 3, scratch, "b.txt", "b2", 2);
}

static void finish(struct weir_kit *kit, struct scratch *scratch)
{
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
    scratch_finish(scratch);
}

static void test_glob_gives_lines_sorted_by_file(void)
{
    struct scratch scratch;
    struct weir_kit *kit = start_with_two_files(&scratch);

    CU_ASSERT_EQUAL(weir_kit_produce_all(kit, 100), WEIR_END);
    expect_two_files(kit, &scratch);
    CU_ASSERT_EQUAL(weir_kit_exit_status(kit), 0);
    CU_ASSERT_EQUAL(weir_kit_log_count(kit), 0);
    CU_ASSERT_EQUAL(weir_kit_produce(kit, 1), WEIR_END);
    finish(kit, &scratch);
}

static void test_credit_of_one_gives_one_line_a_call(void)
{
    struct scratch scratch;
    struct weir_kit *kit = start_with_two_files(&scratch);

    for (size_t i = 1; i <= 4; i++) {
        CU_ASSERT_EQUAL(weir_kit_produce(kit, 1), WEIR_MORE);
        CU_ASSERT_EQUAL(weir_kit_sent_count(kit), i);
    }
    CU_ASSERT_EQUAL(weir_kit_produce(kit, 1), WEIR_END);
    expect_two_files(kit, &scratch);
    finish(kit, &scratch);
}

static void test_patterns_keep_their_order(void)
{
    struct scratch scratch;
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "lines");
    char first[512];

    scratch_init(&scratch);
    (void)scratch_write(&scratch, "z1", "1\n");
    (void)scratch_write(&scratch, "z2", "2\n");
    (void)scratch_write(&scratch, "a", "3\n");
    (void)snprintf(first, sizeof first, "%s", scratch_path(&scratch, "z*"));
    CU_ASSERT_EQUAL_FATAL(
        weir_kit_open_format(kit, "paths: [%s, %s]", first, scratch_path(&scratch, "a")), 0);
    CU_ASSERT_EQUAL(weir_kit_produce_all(kit, 100), WEIR_END);
    CU_ASSERT_EQUAL_FATAL(weir_kit_sent_count(kit), 3);
    expect_line(kit, 0, &scratch, "z1", "1", 1);
    expect_line(kit, 1, &scratch, "z2", "2", 1);
    expect_line(kit, 2, &scratch, "a", "3", 1);
    finish(kit, &scratch);
}

static void test_refused_line_is_kept(void)
{
    struct scratch scratch;
    struct weir_kit *kit = start_with_two_files(&scratch);

    weir_kit_limit(kit, 2, WEIR_EFULL);
    CU_ASSERT_EQUAL(weir_kit_produce(kit, 100), WEIR_MORE);
    CU_ASSERT_EQUAL(weir_kit_sent_count(kit), 2);
    CU_ASSERT_EQUAL(weir_kit_produce(kit, 100), WEIR_MORE);
    CU_ASSERT_EQUAL(weir_kit_sent_count(kit), 2);
    weir_kit_limit(kit, UINT32_MAX, 0);
    CU_ASSERT_EQUAL(weir_kit_produce(kit, 100), WEIR_END);
    expect_two_files(kit, &scratch);
    finish(kit, &scratch);
}

static void test_without_memory_waits_and_goes_on(void)
{
    struct scratch scratch;
    struct weir_kit *kit = start_with_two_files(&scratch);

    weir_kit_fail_allocation(kit, 2);
    CU_ASSERT_EQUAL(weir_kit_produce(kit, 100), WEIR_WAIT);
    CU_ASSERT_EQUAL(weir_kit_timer_count(kit), 1);
    CU_ASSERT_EQUAL(weir_kit_produce(kit, 100), WEIR_END);
    expect_two_files(kit, &scratch);
    finish(kit, &scratch);
}

static void test_without_memory_for_a_timer_fails(void)
{
    struct scratch scratch;
    struct weir_kit *kit = start_with_two_files(&scratch);

    weir_kit_fail_allocations(kit, 2, UINT32_MAX);
    CU_ASSERT_EQUAL(weir_kit_produce(kit, 100), WEIR_ENOMEM);
    finish(kit, &scratch);
}

static void test_closed_output_is_a_failure(void)
{
    struct scratch scratch;
    struct weir_kit *kit = start_with_two_files(&scratch);

    weir_kit_limit(kit, 0, WEIR_ECLOSED);
    CU_ASSERT_EQUAL(weir_kit_produce(kit, 100), WEIR_ECLOSED);
    finish(kit, &scratch);
}

static void test_progress_ends_with_all_bytes(void)
{
    struct scratch scratch;
    struct weir_kit *kit = start_with_two_files(&scratch);

    CU_ASSERT_EQUAL(weir_kit_produce(kit, 1), WEIR_MORE);
    CU_ASSERT_EQUAL(weir_kit_done(kit, "bytes"), 4);
    CU_ASSERT_EQUAL(weir_kit_total(kit, "bytes"), 12);
    CU_ASSERT_EQUAL(weir_kit_produce_all(kit, 1), WEIR_END);
    CU_ASSERT_EQUAL(weir_kit_done(kit, "bytes"), 12);
    CU_ASSERT_EQUAL(weir_kit_done(kit, "lines"), 4);
    finish(kit, &scratch);
}

static void test_no_match_is_reported(void)
{
    struct scratch scratch;
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "lines");

    scratch_init(&scratch);
    CU_ASSERT_EQUAL_FATAL(weir_kit_open_format(kit, "paths: [%s]", scratch_path(&scratch, "none*")),
                          0);
    CU_ASSERT_TRUE(weir_kit_has_logged(kit, WEIR_LOG_WARNING, "no file matches"));
    CU_ASSERT_EQUAL(weir_kit_exit_status(kit), 1);
    CU_ASSERT_EQUAL(weir_kit_produce(kit, 10), WEIR_END);
    finish(kit, &scratch);
}

static void test_unreadable_file_is_reported_and_skipped(void)
{
    struct scratch scratch;
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "lines");

    scratch_init(&scratch);
    (void)scratch_directory(&scratch, "1");
    CU_ASSERT_EQUAL(mkfifo(scratch_path(&scratch, "2"), 0600), 0);
    (void)scratch_write(&scratch, "3", "line\n");
    CU_ASSERT_EQUAL_FATAL(weir_kit_open_format(kit, "paths: [%s]", scratch_path(&scratch, "*")), 0);
    CU_ASSERT_EQUAL(weir_kit_produce_all(kit, 10), WEIR_END);
    CU_ASSERT_EQUAL(weir_kit_sent_count(kit), 1);
    expect_line(kit, 0, &scratch, "3", "line", 1);
    CU_ASSERT_EQUAL(weir_kit_log_count(kit), 2);
    CU_ASSERT_TRUE(weir_kit_has_logged(kit, WEIR_LOG_WARNING, "file cannot be opened; skipped"));
    CU_ASSERT_EQUAL(weir_kit_exit_status(kit), 1);
    finish(kit, &scratch);
}

static void test_file_that_went_away_is_reported(void)
{
    struct scratch scratch;
    struct weir_kit *kit = start_with_two_files(&scratch);

    CU_ASSERT_EQUAL(remove(scratch_path(&scratch, "a.txt")), 0);
    CU_ASSERT_EQUAL(weir_kit_produce_all(kit, 10), WEIR_END);
    CU_ASSERT_EQUAL(weir_kit_sent_count(kit), 2);
    CU_ASSERT_TRUE(weir_kit_has_logged(kit, WEIR_LOG_WARNING, "a.txt"));
    CU_ASSERT_EQUAL(weir_kit_done(kit, "bytes"), 12);
    CU_ASSERT_EQUAL(weir_kit_exit_status(kit), 1);
    finish(kit, &scratch);
}

static void test_line_past_the_limit_is_reported_and_skipped(void)
{
    struct scratch scratch;
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "lines");
    size_t size = FILES_LINE_MAX + 8;
    char *text = malloc(size);

    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    memset(text, 'x', size);
    memcpy(text + size - 6, "\nnext\n", 6);
    scratch_init(&scratch);
    CU_ASSERT_EQUAL_FATAL(
        weir_kit_open_format(kit, "paths: [%s]", scratch_write_size(&scratch, "long", text, size)),
        0);
    free(text);
    CU_ASSERT_EQUAL(weir_kit_produce_all(kit, 10), WEIR_END);
    CU_ASSERT_EQUAL(weir_kit_sent_count(kit), 1);
    expect_line(kit, 0, &scratch, "long", "next", 2);
    CU_ASSERT_TRUE(weir_kit_has_logged(kit, WEIR_LOG_WARNING, "line too long"));
    CU_ASSERT_EQUAL(weir_kit_exit_status(kit), 1);
    finish(kit, &scratch);
}

static void test_call_without_lines_ends_after_a_while(void)
{
    struct scratch scratch;
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "lines");
    char name[16];

    scratch_init(&scratch);
    for (unsigned i = 0; i < 300; i++) {
        (void)snprintf(name, sizeof name, "%03u", i);
        (void)scratch_write(&scratch, name, "");
    }
    CU_ASSERT_EQUAL_FATAL(weir_kit_open_format(kit, "paths: [%s]", scratch_path(&scratch, "*")), 0);
    CU_ASSERT_EQUAL(weir_kit_produce(kit, 10), WEIR_MORE);
    CU_ASSERT_EQUAL(weir_kit_produce_all(kit, 10), WEIR_END);
    CU_ASSERT_EQUAL(weir_kit_sent_count(kit), 0);
    CU_ASSERT_EQUAL(weir_kit_exit_status(kit), 0);
    finish(kit, &scratch);
}

static void test_lines_of_a_file_share_a_key(void)
{
    struct scratch scratch;
    struct weir_kit *kit = start_with_two_files(&scratch);

    CU_ASSERT_EQUAL(weir_kit_produce_all(kit, 10), WEIR_END);
    CU_ASSERT_EQUAL_FATAL(weir_kit_sent_count(kit), 4);
    CU_ASSERT_NOT_EQUAL(weir_kit_sent(kit, 0)->message->key, 0);
    CU_ASSERT_EQUAL(weir_kit_sent(kit, 0)->message->key, weir_kit_sent(kit, 1)->message->key);
    CU_ASSERT_NOT_EQUAL(weir_kit_sent(kit, 0)->message->key, weir_kit_sent(kit, 2)->message->key);
    finish(kit, &scratch);
}

static void test_no_paths_are_refused(void)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "lines");

    CU_ASSERT_EQUAL(weir_kit_open_args(kit, ""), WEIR_EINVALID);
    CU_ASSERT_EQUAL(weir_kit_open_args(kit, "paths: []"), WEIR_EINVALID);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

/* A source over all files of one letter, which continues at the position `before`. */
static struct weir_kit *take_over(struct scratch *scratch, struct weir_kit *before)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "lines");
    const void *left;
    size_t size;

    CU_ASSERT_EQUAL_FATAL(weir_kit_open_format(kit, "paths: [%s]", scratch_path(scratch, "?.txt")),
                          0);
    if (!before)
        return kit;
    weir_kit_close(before, WEIR_END_SHUTDOWN);
    left = weir_kit_left(before, &size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(left);
    weir_kit_resume(kit, left, size);
    return kit;
}

static uint32_t count_of(struct weir_kit *const *kits, const char *text)
{
    uint32_t count = 0;

    for (int i = 0; i < 3; i++)
        for (size_t j = 0; j < weir_kit_sent_count(kits[i]); j++)
            count += strcmp(files_line_text(files_line_get(weir_kit_sent(kits[i], j)->message)),
                            text) == 0;
    return count;
}

/* Three sources, one after the other, stopped after so many lines each. */
static void relay(uint32_t first, uint32_t second)
{
    static const char *const lines[] = { "a1", "a2", "b1", "b2", "b3", "c1", "01", "02" };
    struct weir_kit *kits[3];
    struct scratch scratch;

    scratch_init(&scratch);
    (void)scratch_write(&scratch, "a.txt", "a1\r\na2");
    (void)scratch_write(&scratch, "b.txt", "b1\nb2\nb3\n");
    kits[0] = take_over(&scratch, NULL);
    (void)weir_kit_produce(kits[0], first);
    (void)scratch_write(&scratch, "c.txt", "c1\n");
    (void)scratch_write(&scratch, "0.txt", "01\n02\n");
    kits[1] = take_over(&scratch, kits[0]);
    weir_kit_limit(kits[1], second, WEIR_EFULL); /* so that it may hold a line that it has read */
    (void)weir_kit_produce(kits[1], second + 1);
    kits[2] = take_over(&scratch, kits[1]);
    CU_ASSERT_EQUAL(weir_kit_produce_all(kits[2], 100), WEIR_END);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        CU_ASSERT_EQUAL(count_of(kits, lines[i]), 1);
    for (int i = 0; i < 3; i++)
        CU_ASSERT_EQUAL(weir_kit_destroy(kits[i]), 0);
    scratch_finish(&scratch);
}

static void test_one_that_takes_over_reads_what_is_left(void)
{
    for (uint32_t first = 0; first <= 5; first++)
        for (uint32_t second = 0; second <= 4; second++)
            relay(first, second);
}

static void test_position_of_another_plugin_is_passed_over(void)
{
    struct scratch scratch;
    struct weir_kit *kit = start_with_two_files(&scratch);

    weir_kit_resume(kit, "12345678", 8);
    CU_ASSERT_EQUAL(weir_kit_produce_all(kit, 100), WEIR_END);
    expect_two_files(kit, &scratch);
    finish(kit, &scratch);
}

/* --- with a position -------------------------------------------------------------------------- */

/* Of the files of start_with_two_files; the position is a file beside them. */
static int open_with_position(struct scratch *scratch, const char *on_change, struct weir_kit **out)
{
    char paths[512];

    *out = weir_kit_create(&weir_plugin_v1, "lines");
    (void)snprintf(paths, sizeof paths, "%s", scratch_path(scratch, "*.txt"));
    return weir_kit_open_format(*out, "{paths: [%s], position: %s, save_every: 0ms, on_change: %s}",
                                paths, scratch_path(scratch, "position"), on_change);
}

static struct weir_kit *start_with_position(struct scratch *scratch)
{
    struct weir_kit *kit;

    CU_ASSERT_EQUAL_FATAL(open_with_position(scratch, "restart", &kit), 0);
    return kit;
}

static void settle(struct weir_kit *kit, size_t index, enum weir_result result)
{
    const struct weir_outcome outcome = { .token = weir_kit_sent(kit, index)->token,
                                          .result = result };

    CU_ASSERT_EQUAL(weir_kit_tell(kit, &outcome), 0);
}

static void begin_with_position(struct scratch *scratch)
{
    scratch_init(scratch);
    (void)scratch_write(scratch, "b.txt", "b1\nb2\n");
    (void)scratch_write(scratch, "a.txt", "a1\r\na2");
}

/* promise B15 */
static void test_source_with_a_position_ends_when_all_is_settled(void)
{
    struct scratch scratch;
    struct weir_kit *kit;

    begin_with_position(&scratch);
    kit = start_with_position(&scratch);
    CU_ASSERT_EQUAL(weir_kit_produce(kit, 100), WEIR_WAIT);
    expect_two_files(kit, &scratch);
    for (size_t i = 0; i < 4; i++) {
        CU_ASSERT_EQUAL(weir_kit_produce(kit, 100), WEIR_WAIT);
        settle(kit, i, WEIR_OUTCOME_DONE);
    }
    CU_ASSERT_EQUAL(weir_kit_produce(kit, 100), WEIR_END);
    CU_ASSERT_EQUAL(weir_kit_exit_status(kit), 0);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
    kit = start_with_position(&scratch);
    CU_ASSERT_EQUAL(weir_kit_produce(kit, 100), WEIR_END);
    CU_ASSERT_EQUAL(weir_kit_sent_count(kit), 0);
    finish(kit, &scratch);
}

/* promise B15 */
static void test_next_source_goes_on_at_the_position(void)
{
    struct scratch scratch;
    struct weir_kit *kit;

    begin_with_position(&scratch);
    kit = start_with_position(&scratch);
    CU_ASSERT_EQUAL(weir_kit_produce(kit, 100), WEIR_WAIT);
    settle(kit, 0, WEIR_OUTCOME_DONE);
    settle(kit, 2, WEIR_OUTCOME_DONE);
    settle(kit, 3, WEIR_OUTCOME_DONE);
    CU_ASSERT_EQUAL(weir_kit_produce(kit, 100), WEIR_WAIT); /* saves */
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
    kit = start_with_position(&scratch);
    CU_ASSERT_EQUAL(weir_kit_produce(kit, 100), WEIR_WAIT);
    CU_ASSERT_EQUAL_FATAL(weir_kit_sent_count(kit), 1);
    expect_line(kit, 0, &scratch, "a.txt", "a2", 2);
    settle(kit, 0, WEIR_OUTCOME_RETRY);
    weir_kit_advance(kit, 250);
    CU_ASSERT_EQUAL(weir_kit_produce(kit, 100), WEIR_WAIT);
    expect_line(kit, 1, &scratch, "a.txt", "a2", 2);
    settle(kit, 1, WEIR_OUTCOME_DONE);
    CU_ASSERT_EQUAL(weir_kit_produce(kit, 100), WEIR_END);
    finish(kit, &scratch);
}

/* A position in the second of two lines of `a.txt`; `b.txt` is read. */
static void leave_position(struct scratch *scratch)
{
    struct weir_kit *kit;

    begin_with_position(scratch);
    kit = start_with_position(scratch);
    CU_ASSERT_EQUAL(weir_kit_produce(kit, 100), WEIR_WAIT);
    settle(kit, 0, WEIR_OUTCOME_DONE);
    settle(kit, 2, WEIR_OUTCOME_DONE);
    settle(kit, 3, WEIR_OUTCOME_DONE);
    CU_ASSERT_EQUAL(weir_kit_produce(kit, 100), WEIR_WAIT); /* saves */
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

/* Changes `a.txt`, opens again, and expects its lines, which are `count`. */
static void expect_after_change(void (*change)(struct scratch *), const char *word,
                                const char *on_change, size_t count)
{
    struct scratch scratch;
    struct weir_kit *kit;
    bool stops = strcmp(on_change, "stop") == 0;

    leave_position(&scratch);
    change(&scratch);
    CU_ASSERT_EQUAL(open_with_position(&scratch, on_change, &kit), stops ? WEIR_EREJECTED : 0);
    CU_ASSERT_TRUE(weir_kit_has_logged(kit, WEIR_LOG_WARNING, "file of the position has changed"));
    CU_ASSERT_TRUE(weir_kit_has_logged(kit, WEIR_LOG_WARNING, word));
    CU_ASSERT_EQUAL(weir_kit_exit_status(kit), 1);
    if (!stops) {
        CU_ASSERT_EQUAL(weir_kit_produce(kit, 100), count ? WEIR_WAIT : WEIR_END);
        CU_ASSERT_EQUAL(weir_kit_sent_count(kit), count);
    }
    finish(kit, &scratch);
}

/* The same inode and beginning. */
static void truncate_file(struct scratch *scratch)
{
    CU_ASSERT_EQUAL(truncate(scratch_path(scratch, "a.txt"), 3), 0);
}

static void replace_file(struct scratch *scratch)
{
    char path[512];

    (void)snprintf(path, sizeof path, "%s", scratch_write(scratch, "new", "n1\nn2\nn3\n"));
    CU_ASSERT_EQUAL(rename(path, scratch_path(scratch, "a.txt")), 0);
}

static void remove_file(struct scratch *scratch)
{
    CU_ASSERT_EQUAL(unlink(scratch_path(scratch, "a.txt")), 0);
}

/* promise B18 */
static void test_file_that_has_changed_is_treated_as_on_change_says(void)
{
    expect_after_change(truncate_file, "truncated", "restart", 1);
    expect_after_change(truncate_file, "truncated", "skip", 0);
    expect_after_change(truncate_file, "truncated", "stop", 0);
    expect_after_change(replace_file, "replaced", "restart", 3);
    expect_after_change(replace_file, "replaced", "skip", 0);
    expect_after_change(replace_file, "replaced", "stop", 0);
    expect_after_change(remove_file, "gone", "restart", 0);
    expect_after_change(remove_file, "gone", "skip", 0);
    expect_after_change(remove_file, "gone", "stop", 0);
}

/* promise B140: skip leaves out the lines of a file that is in the place of one that was read. */
static void test_replaced_file_that_is_skipped_is_a_fault(void)
{
    for (int is_there = 0; is_there < 2; is_there++) {
        struct scratch scratch;
        struct weir_kit *kit;
        char path[512];

        leave_position(&scratch);
        (void)snprintf(path, sizeof path, "%s", scratch_write(&scratch, "new", "n1\nn2\n"));
        CU_ASSERT_EQUAL(rename(path, scratch_path(&scratch, "b.txt")), 0);
        if (!is_there)
            CU_ASSERT_EQUAL(unlink(scratch_path(&scratch, "b.txt")), 0);
        CU_ASSERT_EQUAL(open_with_position(&scratch, "skip", &kit), 0);
        CU_ASSERT_TRUE(weir_kit_has_logged(kit, WEIR_LOG_WARNING,
                                           is_there ? "has changed" : "no line was unread"));
        CU_ASSERT_EQUAL(weir_kit_exit_status(kit), is_there);
        finish(kit, &scratch);
    }
}

/* promise B18 */
static void test_source_ends_at_dead_lines_that_are_not_stored(void)
{
    struct scratch scratch;
    struct weir_kit *kit;

    begin_with_position(&scratch);
    kit = start_with_position(&scratch);
    CU_ASSERT_EQUAL(weir_kit_produce(kit, 100), WEIR_WAIT);
    settle(kit, 0, WEIR_OUTCOME_DEAD);
    for (size_t i = 1; i < 4; i++)
        settle(kit, i, WEIR_OUTCOME_DONE);
    CU_ASSERT_EQUAL(weir_kit_produce(kit, 100), WEIR_END);
    CU_ASSERT_EQUAL(weir_kit_exit_status(kit), 1);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
    kit = start_with_position(&scratch);
    CU_ASSERT_EQUAL(weir_kit_produce(kit, 100), WEIR_WAIT);
    CU_ASSERT_EQUAL(weir_kit_sent_count(kit), 2);
    finish(kit, &scratch);
}

static void test_no_match_is_reported_with_a_position_too(void)
{
    struct scratch scratch;
    struct weir_kit *kit;

    scratch_init(&scratch);
    kit = start_with_position(&scratch);
    CU_ASSERT_EQUAL(weir_kit_produce(kit, 100), WEIR_END);
    CU_ASSERT_EQUAL(weir_kit_exit_status(kit), 1);
    finish(kit, &scratch);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "glob gives lines sorted by file", test_glob_gives_lines_sorted_by_file },
        { "credit of one gives one line a call", test_credit_of_one_gives_one_line_a_call },
        { "patterns keep their order", test_patterns_keep_their_order },
        { "refused line is kept", test_refused_line_is_kept },
        { "without memory waits and goes on", test_without_memory_waits_and_goes_on },
        { "without memory for a timer fails", test_without_memory_for_a_timer_fails },
        { "closed output is a failure", test_closed_output_is_a_failure },
        { "progress ends with all bytes", test_progress_ends_with_all_bytes },
        { "no match is reported", test_no_match_is_reported },
        { "unreadable file is reported and skipped", test_unreadable_file_is_reported_and_skipped },
        { "file that went away is reported", test_file_that_went_away_is_reported },
        { "line past the limit is reported and skipped",
          test_line_past_the_limit_is_reported_and_skipped },
        { "call without lines ends after a while", test_call_without_lines_ends_after_a_while },
        { "lines of a file share a key", test_lines_of_a_file_share_a_key },
        { "no paths are refused", test_no_paths_are_refused },
        { "takes over", test_one_that_takes_over_reads_what_is_left },
        { "settled", test_source_with_a_position_ends_when_all_is_settled },
        { "goes on", test_next_source_goes_on_at_the_position },
        { "replaced and skipped", test_replaced_file_that_is_skipped_is_a_fault },
        { "on_change", test_file_that_has_changed_is_treated_as_on_change_says },
        { "dead lines", test_source_ends_at_dead_lines_that_are_not_stored },
        { "no match with a position", test_no_match_is_reported_with_a_position_too },
        { "other position", test_position_of_another_plugin_is_passed_over },
        CU_TEST_INFO_NULL,
    };

    return suite_run("plugin files", tests);
}
