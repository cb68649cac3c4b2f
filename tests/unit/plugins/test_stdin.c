/* SPDX-License-Identifier: MIT */
/*
 * Goal:   stdin.lines sends every line of standard input once, whole, reads no more than there is
 *         room for, and leaves the text that it has read to the source that takes its place.
 * Method: standard input of the test program is a pipe or a file of the test's own; the kit asks
 *         for lines.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weir/testkit.h>

#include "../../../plugins/stdin/stdin.h"
#include "../host/suite.h"
#include "scratch.h"

extern const struct weir_plugin weir_plugin_v1;

/* Makes standard input a pipe. Returns the end that writes. */
static int begin_pipe(void)
{
    int ends[2];

    CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
    CU_ASSERT_EQUAL_FATAL(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
    (void)close(ends[0]);
    return ends[1];
}

static void put(int descriptor, const char *text, size_t size)
{
    CU_ASSERT_EQUAL_FATAL(write(descriptor, text, size), (ssize_t)size);
}

static struct weir_kit *source(const char *args)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "lines");

    CU_ASSERT_PTR_NOT_NULL_FATAL(kit);
    CU_ASSERT_EQUAL_FATAL(weir_kit_open_args(kit, args), 0);
    return kit;
}

static void expect_line(struct weir_kit *kit, size_t index, const char *text, size_t size)
{
    const struct weir_message *message = weir_kit_emitted(kit, 0, index);

    CU_ASSERT_PTR_NOT_NULL_FATAL(message);
    CU_ASSERT_STRING_EQUAL(message->tag->name, STDIN_LINE_TAG);
    CU_ASSERT_EQUAL_FATAL(message->size, size);
    CU_ASSERT_TRUE(size == 0 || memcmp(message->data, text, size) == 0);
}

static void test_lines_of_a_pipe_are_sent_as_they_come(void)
{
    int writer = begin_pipe();
    struct weir_kit *kit = source("");

    CU_ASSERT_EQUAL(weir_kit_produce_all(kit, 8), WEIR_WAIT);
    CU_ASSERT_EQUAL(weir_kit_watch_count(kit), 1);
    put(writer, "one\ntw", 6);
    CU_ASSERT_EQUAL(weir_kit_poll(kit), 1);
    CU_ASSERT_EQUAL(weir_kit_produce_all(kit, 8), WEIR_WAIT);
    expect_line(kit, 0, "one", 3);
    CU_ASSERT_PTR_NULL(weir_kit_emitted(kit, 0, 1));
    put(writer, "o\r\n\n\0x", 6);
    (void)close(writer);
    CU_ASSERT_EQUAL(weir_kit_produce_all(kit, 8), WEIR_END);
    expect_line(kit, 1, "two", 3);
    expect_line(kit, 2, "", 0);
    expect_line(kit, 3, "\0x", 2);
    CU_ASSERT_EQUAL(weir_kit_done(kit, "lines"), 4);
    CU_ASSERT_EQUAL(weir_kit_done(kit, "bytes"), 12);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_lines_of_a_file_need_no_watch(void)
{
    struct scratch scratch;
    int file;
    struct weir_kit *kit;

    scratch_init(&scratch);
    file = open(scratch_write(&scratch, "file", "a\nb\n"), O_RDONLY);
    CU_ASSERT_EQUAL_FATAL(dup2(file, STDIN_FILENO), STDIN_FILENO);
    (void)close(file);
    kit = source("");
    CU_ASSERT_EQUAL(weir_kit_produce_all(kit, 1), WEIR_END);
    expect_line(kit, 0, "a", 1);
    expect_line(kit, 1, "b", 1);
    CU_ASSERT_PTR_NULL(weir_kit_emitted(kit, 0, 2));
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
    scratch_finish(&scratch);
}

static void test_nul_ends_lines_that_have_line_ends(void)
{
    int writer = begin_pipe();
    struct weir_kit *kit = source("nul: true");

    put(writer, "a\r\nb\0c\r", 7);
    (void)close(writer);
    CU_ASSERT_EQUAL(weir_kit_produce_all(kit, 8), WEIR_END);
    expect_line(kit, 0, "a\r\nb", 4);
    expect_line(kit, 1, "c\r", 2);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_first_word_is_the_key(void)
{
    int writer = begin_pipe();
    struct weir_kit *kit = source("key: true");

    put(writer, "ab 1\nab\t2\nb\n\n", 13);
    (void)close(writer);
    CU_ASSERT_EQUAL(weir_kit_produce_all(kit, 8), WEIR_END);
    CU_ASSERT_EQUAL(weir_kit_emitted(kit, 0, 0)->key, weir_key("ab", 2));
    CU_ASSERT_EQUAL(weir_kit_emitted(kit, 0, 1)->key, weir_key("ab", 2));
    CU_ASSERT_EQUAL(weir_kit_emitted(kit, 0, 2)->key, weir_key("b", 1));
    CU_ASSERT_NOT_EQUAL(weir_kit_emitted(kit, 0, 3)->key, 0);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_line_above_the_limit_is_skipped_and_reported(void)
{
    int writer = begin_pipe();
    struct weir_kit *kit = source("line_max: 4");
    char *large = malloc(200000);

    CU_ASSERT_PTR_NOT_NULL_FATAL(large);
    memset(large, 'x', 200000);
    put(writer, "1234\n12345\n", 11);
    for (int i = 0; i < 5; i++) {
        put(writer, large, 40000);
        CU_ASSERT_EQUAL(weir_kit_produce_all(kit, 8), WEIR_WAIT);
        (void)weir_kit_poll(kit);
    }
    put(writer, "\nend", 4);
    (void)close(writer);
    CU_ASSERT_EQUAL(weir_kit_produce_all(kit, 8), WEIR_END);
    expect_line(kit, 0, "1234", 4);
    expect_line(kit, 1, "end", 3);
    CU_ASSERT_TRUE(weir_kit_has_logged(kit, WEIR_LOG_WARNING, "line too long; skipped line=2"));
    CU_ASSERT_TRUE(weir_kit_has_logged(kit, WEIR_LOG_WARNING, "line too long; skipped line=3"));
    CU_ASSERT_EQUAL(weir_kit_exit_status(kit), 1);
    free(large);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_nothing_is_read_without_room(void)
{
    int writer = begin_pipe();
    struct weir_kit *kit = source("");
    char byte;

    put(writer, "a\nb\n", 4);
    weir_kit_limit(kit, 0, WEIR_EFULL);
    CU_ASSERT_EQUAL(weir_kit_produce(kit, 1), WEIR_MORE);
    put(writer, "c", 1);
    CU_ASSERT_EQUAL(weir_kit_produce(kit, 1), WEIR_MORE);
    CU_ASSERT_EQUAL(read(STDIN_FILENO, &byte, 1), 1);
    CU_ASSERT_EQUAL(byte, 'c');
    weir_kit_limit(kit, 9, WEIR_EFULL);
    CU_ASSERT_EQUAL(weir_kit_produce_all(kit, 8), WEIR_WAIT);
    expect_line(kit, 0, "a", 1);
    expect_line(kit, 1, "b", 1);
    (void)close(writer);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_next_source_goes_on_with_what_was_read(void)
{
    int writer = begin_pipe();
    struct weir_kit *kit = source("");
    const void *position;
    size_t size;
    struct weir_kit *next;

    put(writer, "a\nb\nc\nha", 8);
    CU_ASSERT_EQUAL(weir_kit_produce(kit, 1), WEIR_MORE);
    weir_kit_limit(kit, 0, WEIR_EFULL);
    CU_ASSERT_EQUAL(weir_kit_produce(kit, 1), WEIR_MORE); /* `b` is found, and not sent */
    weir_kit_close(kit, WEIR_END_REPLACED);
    position = weir_kit_left(kit, &size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(position);
    next = source("");
    weir_kit_resume(next, position, size);
    put(writer, "lf\n", 3);
    (void)close(writer);
    CU_ASSERT_EQUAL(weir_kit_produce_all(next, 8), WEIR_END);
    expect_line(kit, 0, "a", 1);
    expect_line(next, 0, "b", 1);
    expect_line(next, 1, "c", 1);
    expect_line(next, 2, "half", 4);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
    CU_ASSERT_EQUAL(weir_kit_destroy(next), 0);
}

static void test_memory_that_is_out_loses_no_line(void)
{
    int writer = begin_pipe();
    struct weir_kit *kit = source("");

    put(writer, "a\n", 2);
    (void)close(writer);
    weir_kit_fail_allocation(kit, 1);
    CU_ASSERT_EQUAL(weir_kit_produce_all(kit, 8), WEIR_WAIT);
    CU_ASSERT_EQUAL(weir_kit_timer_count(kit), 1);
    weir_kit_advance(kit, 1000);
    CU_ASSERT_EQUAL(weir_kit_produce_all(kit, 8), WEIR_END);
    expect_line(kit, 0, "a", 1);
    CU_ASSERT_STRING_EQUAL(weir_kit_inspect(kit, (const char *[]){ "finished", NULL }),
                           "finished=yes\n");
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_input_that_is_closed_refuses_to_open(void)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "lines");
    int output = open("/dev/null", O_WRONLY); /* as the host has it when it starts with `<&-` */

    CU_ASSERT_EQUAL_FATAL(dup2(output, STDIN_FILENO), STDIN_FILENO);
    (void)close(output);
    CU_ASSERT_EQUAL(weir_kit_open_args(kit, ""), WEIR_EINVALID);
    CU_ASSERT_STRING_EQUAL(weir_kit_reason(kit), "standard input is not open for reading");
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "lines of a pipe", test_lines_of_a_pipe_are_sent_as_they_come },
        { "lines of a file", test_lines_of_a_file_need_no_watch },
        { "nul", test_nul_ends_lines_that_have_line_ends },
        { "key", test_first_word_is_the_key },
        { "line above the limit", test_line_above_the_limit_is_skipped_and_reported },
        { "nothing is read without room", test_nothing_is_read_without_room },
        { "next source", test_next_source_goes_on_with_what_was_read },
        { "memory is out", test_memory_that_is_out_loses_no_line },
        { "closed input", test_input_that_is_closed_refuses_to_open },
        CU_TEST_INFO_NULL,
    };

    return suite_run("plugin stdin", tests);
}
