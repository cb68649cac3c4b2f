/*
 * Goal: files.lines sends every line of every matching file once, in order, as fast as it is asked,
 * and says what it could not read.
 * Method: small files in a directory of the test's own, a fake host that gives credit, refuses
 * messages or runs out of memory at a chosen moment.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../../../plugins/files/files.h"
#include "../host/suite.h"
#include "fake_host.h"
#include "scratch.h"

static void expect_line(struct fake_host *fake, size_t index, struct scratch *scratch,
                        const char *name, const char *text, uint64_t number)
{
    const struct files_line *line;

    CU_ASSERT_FATAL(index < fake->emit_count);
    CU_ASSERT_EQUAL(fake->emits[index].output, 0);
    CU_ASSERT_STRING_EQUAL(fake->emits[index].message->tag->name, FILES_LINE_TAG);
    line = files_line_get(fake->emits[index].message);
    CU_ASSERT_PTR_NOT_NULL_FATAL(line);
    CU_ASSERT_STRING_EQUAL(files_line_name(line), scratch_path(scratch, name));
    CU_ASSERT_STRING_EQUAL(files_line_text(line), text);
    CU_ASSERT_EQUAL(line->line_size, strlen(text));
    CU_ASSERT_EQUAL(line->number, number);
}

/* A worker over `b.txt` and `a.txt` of the scratch directory, opened. */
static struct fake_host *start_with_two_files(struct scratch *scratch)
{
    struct fake_host *fake = fake_start("lines");

    scratch_init(scratch);
    (void)scratch_write(scratch, "b.txt", "b1\nb2\n");
    (void)scratch_write(scratch, "a.txt", "a1\r\na2");
    fake_set_item(fake, "paths", scratch_path(scratch, "*.txt"));
    CU_ASSERT_EQUAL_FATAL(fake_open(fake), 0);
    return fake;
}

static void expect_two_files(struct fake_host *fake, struct scratch *scratch)
{
    CU_ASSERT_EQUAL_FATAL(fake->emit_count, 4);
    expect_line(fake, 0, scratch, "a.txt", "a1", 1);
    expect_line(fake, 1, scratch, "a.txt", "a2", 2);
    expect_line(fake, 2, scratch, "b.txt", "b1", 1);
    expect_line(fake, 3, scratch, "b.txt", "b2", 2);
}

static void finish(struct fake_host *fake, struct scratch *scratch)
{
    fake_finish(fake);
    scratch_finish(scratch);
}

static void test_glob_gives_lines_sorted_by_file(void)
{
    struct scratch scratch;
    struct fake_host *fake = start_with_two_files(&scratch);

    CU_ASSERT_EQUAL(fake_produce_all(fake, 100), WEIR_END);
    expect_two_files(fake, &scratch);
    CU_ASSERT_EQUAL(fake->exit_status, 0);
    CU_ASSERT_EQUAL(fake->log_count, 0);
    CU_ASSERT_EQUAL(fake_produce(fake, 1), WEIR_END);
    finish(fake, &scratch);
}

static void test_credit_of_one_gives_one_line_a_call(void)
{
    struct scratch scratch;
    struct fake_host *fake = start_with_two_files(&scratch);

    for (size_t i = 1; i <= 4; i++) {
        CU_ASSERT_EQUAL(fake_produce(fake, 1), WEIR_MORE);
        CU_ASSERT_EQUAL(fake->emit_count, i);
    }
    CU_ASSERT_EQUAL(fake_produce(fake, 1), WEIR_END);
    expect_two_files(fake, &scratch);
    finish(fake, &scratch);
}

static void test_patterns_keep_their_order(void)
{
    struct scratch scratch;
    struct fake_host *fake = fake_start("lines");
    char first[512];

    scratch_init(&scratch);
    (void)scratch_write(&scratch, "z1", "1\n");
    (void)scratch_write(&scratch, "z2", "2\n");
    (void)scratch_write(&scratch, "a", "3\n");
    (void)snprintf(first, sizeof first, "%s", scratch_path(&scratch, "z*"));
    fake_set_item(fake, "paths", first);
    fake_set_item(fake, "paths", scratch_path(&scratch, "a"));
    CU_ASSERT_EQUAL_FATAL(fake_open(fake), 0);
    CU_ASSERT_EQUAL(fake_produce_all(fake, 100), WEIR_END);
    CU_ASSERT_EQUAL_FATAL(fake->emit_count, 3);
    expect_line(fake, 0, &scratch, "z1", "1", 1);
    expect_line(fake, 1, &scratch, "z2", "2", 1);
    expect_line(fake, 2, &scratch, "a", "3", 1);
    finish(fake, &scratch);
}

static void test_refused_line_is_kept(void)
{
    struct scratch scratch;
    struct fake_host *fake = start_with_two_files(&scratch);

    fake->emit_room = 2;
    CU_ASSERT_EQUAL(fake_produce(fake, 100), WEIR_MORE);
    CU_ASSERT_EQUAL(fake->emit_count, 2);
    CU_ASSERT_EQUAL(fake_produce(fake, 100), WEIR_MORE);
    CU_ASSERT_EQUAL(fake->emit_count, 2);
    fake->emit_room = 100;
    CU_ASSERT_EQUAL(fake_produce(fake, 100), WEIR_END);
    expect_two_files(fake, &scratch);
    finish(fake, &scratch);
}

static void test_without_memory_waits_and_goes_on(void)
{
    struct scratch scratch;
    struct fake_host *fake = start_with_two_files(&scratch);

    fake->message_room = 1;
    CU_ASSERT_EQUAL(fake_produce(fake, 100), WEIR_WAIT);
    CU_ASSERT_EQUAL(fake->timers, 1);
    fake->message_room = 100;
    CU_ASSERT_EQUAL(fake_produce(fake, 100), WEIR_END);
    expect_two_files(fake, &scratch);
    finish(fake, &scratch);
}

static void test_without_memory_for_a_timer_fails(void)
{
    struct scratch scratch;
    struct fake_host *fake = start_with_two_files(&scratch);

    fake->message_room = 1;
    fake->no_timers = true;
    CU_ASSERT_EQUAL(fake_produce(fake, 100), WEIR_ENOMEM);
    finish(fake, &scratch);
}

static void test_closed_output_is_a_failure(void)
{
    struct scratch scratch;
    struct fake_host *fake = start_with_two_files(&scratch);

    fake->emit_room = 0;
    fake->emit_status = WEIR_ECLOSED;
    CU_ASSERT_EQUAL(fake_produce(fake, 100), WEIR_ECLOSED);
    finish(fake, &scratch);
}

static void test_progress_ends_with_all_bytes(void)
{
    struct scratch scratch;
    struct fake_host *fake = start_with_two_files(&scratch);

    CU_ASSERT_EQUAL(fake_produce(fake, 1), WEIR_MORE);
    CU_ASSERT_EQUAL(fake_progress(fake, "bytes").done, 4);
    CU_ASSERT_EQUAL(fake_progress(fake, "bytes").total, 12);
    CU_ASSERT_EQUAL(fake_produce_all(fake, 1), WEIR_END);
    CU_ASSERT_EQUAL(fake_progress(fake, "bytes").done, 12);
    CU_ASSERT_EQUAL(fake_progress(fake, "lines").done, 4);
    finish(fake, &scratch);
}

static void test_no_match_is_told(void)
{
    struct scratch scratch;
    struct fake_host *fake = fake_start("lines");

    scratch_init(&scratch);
    fake_set_item(fake, "paths", scratch_path(&scratch, "none*"));
    CU_ASSERT_EQUAL_FATAL(fake_open(fake), 0);
    CU_ASSERT_TRUE(fake_logged(fake, WEIR_LOG_WARNING, "no file matches"));
    CU_ASSERT_EQUAL(fake->exit_status, 1);
    CU_ASSERT_EQUAL(fake_produce(fake, 10), WEIR_END);
    finish(fake, &scratch);
}

static void test_what_cannot_be_read_is_told_and_skipped(void)
{
    struct scratch scratch;
    struct fake_host *fake = fake_start("lines");

    scratch_init(&scratch);
    (void)scratch_directory(&scratch, "1");
    CU_ASSERT_EQUAL(mkfifo(scratch_path(&scratch, "2"), 0600), 0);
    (void)scratch_write(&scratch, "3", "line\n");
    fake_set_item(fake, "paths", scratch_path(&scratch, "*"));
    CU_ASSERT_EQUAL_FATAL(fake_open(fake), 0);
    CU_ASSERT_EQUAL(fake_produce_all(fake, 10), WEIR_END);
    CU_ASSERT_EQUAL(fake->emit_count, 1);
    expect_line(fake, 0, &scratch, "3", "line", 1);
    CU_ASSERT_EQUAL(fake->log_count, 2);
    CU_ASSERT_TRUE(fake_logged(fake, WEIR_LOG_WARNING, "file cannot be opened; skipped"));
    CU_ASSERT_EQUAL(fake->exit_status, 1);
    finish(fake, &scratch);
}

static void test_file_that_went_away_is_told(void)
{
    struct scratch scratch;
    struct fake_host *fake = start_with_two_files(&scratch);

    CU_ASSERT_EQUAL(remove(scratch_path(&scratch, "a.txt")), 0);
    CU_ASSERT_EQUAL(fake_produce_all(fake, 10), WEIR_END);
    CU_ASSERT_EQUAL(fake->emit_count, 2);
    CU_ASSERT_TRUE(fake_logged(fake, WEIR_LOG_WARNING, "a.txt"));
    CU_ASSERT_EQUAL(fake_progress(fake, "bytes").done, 12);
    CU_ASSERT_EQUAL(fake->exit_status, 1);
    finish(fake, &scratch);
}

static void test_line_past_the_limit_is_told_and_skipped(void)
{
    struct scratch scratch;
    struct fake_host *fake = fake_start("lines");
    size_t size = FILES_LINE_MAX + 8;
    char *text = malloc(size);

    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    memset(text, 'x', size);
    memcpy(text + size - 6, "\nnext\n", 6);
    scratch_init(&scratch);
    fake_set_item(fake, "paths", scratch_write_size(&scratch, "long", text, size));
    free(text);
    CU_ASSERT_EQUAL_FATAL(fake_open(fake), 0);
    CU_ASSERT_EQUAL(fake_produce_all(fake, 10), WEIR_END);
    CU_ASSERT_EQUAL(fake->emit_count, 1);
    expect_line(fake, 0, &scratch, "long", "next", 2);
    CU_ASSERT_TRUE(fake_logged(fake, WEIR_LOG_WARNING, "line too long"));
    CU_ASSERT_EQUAL(fake->exit_status, 1);
    finish(fake, &scratch);
}

static void test_call_without_lines_ends_after_a_while(void)
{
    struct scratch scratch;
    struct fake_host *fake = fake_start("lines");
    char name[16];

    scratch_init(&scratch);
    for (unsigned i = 0; i < 300; i++) {
        (void)snprintf(name, sizeof name, "%03u", i);
        (void)scratch_write(&scratch, name, "");
    }
    fake_set_item(fake, "paths", scratch_path(&scratch, "*"));
    CU_ASSERT_EQUAL_FATAL(fake_open(fake), 0);
    CU_ASSERT_EQUAL(fake_produce(fake, 10), WEIR_MORE);
    CU_ASSERT_EQUAL(fake_produce_all(fake, 10), WEIR_END);
    CU_ASSERT_EQUAL(fake->emit_count, 0);
    CU_ASSERT_EQUAL(fake->exit_status, 0);
    finish(fake, &scratch);
}

static void test_lines_of_a_file_share_a_key(void)
{
    struct scratch scratch;
    struct fake_host *fake = start_with_two_files(&scratch);

    CU_ASSERT_EQUAL(fake_produce_all(fake, 10), WEIR_END);
    CU_ASSERT_EQUAL_FATAL(fake->emit_count, 4);
    CU_ASSERT_NOT_EQUAL(fake->emits[0].message->key, 0);
    CU_ASSERT_EQUAL(fake->emits[0].message->key, fake->emits[1].message->key);
    CU_ASSERT_NOT_EQUAL(fake->emits[0].message->key, fake->emits[2].message->key);
    finish(fake, &scratch);
}

static void test_no_paths_are_refused(void)
{
    struct fake_host *fake = fake_start("lines");

    CU_ASSERT_EQUAL(fake_open(fake), WEIR_EINVALID);
    fake_set_item(fake, "paths", NULL);
    CU_ASSERT_EQUAL(fake_open(fake), WEIR_EINVALID);
    fake_finish(fake);
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
        { "no match is told", test_no_match_is_told },
        { "what cannot be read is told and skipped", test_what_cannot_be_read_is_told_and_skipped },
        { "file that went away is told", test_file_that_went_away_is_told },
        { "line past the limit is told and skipped", test_line_past_the_limit_is_told_and_skipped },
        { "call without lines ends after a while", test_call_without_lines_ends_after_a_while },
        { "lines of a file share a key", test_lines_of_a_file_share_a_key },
        { "no paths are refused", test_no_paths_are_refused },
        CU_TEST_INFO_NULL,
    };

    return suite_run("plugin files", tests);
}
