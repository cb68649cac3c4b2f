/* SPDX-License-Identifier: MIT */
/*
 * Goal: the reader finds the same lines for all sizes of its buffer and of the file.
 * Method: small capacities over files that a test writes; each step is compared, and a long line
 * must not hide the lines after it.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "../../../plugins/files/reader.h"
#include "../host/suite.h"
#include "scratch.h"

struct reading {
    struct scratch scratch;
    struct reader reader;
    struct reader_line line;
};

static void begin(struct reading *reading, const char *text, size_t size, size_t line_max,
                  size_t chunk)
{
    scratch_init(&reading->scratch);
    CU_ASSERT_EQUAL_FATAL(reader_init(&reading->reader, line_max, chunk), 0);
    CU_ASSERT_EQUAL(
        reader_open(&reading->reader, scratch_write_size(&reading->scratch, "file", text, size)),
        0);
}

static void finish(struct reading *reading)
{
    reader_finish(&reading->reader);
    scratch_finish(&reading->scratch);
}

/* The next step that is not only a read. */
static enum reader_step next(struct reading *reading)
{
    enum reader_step step = READER_AGAIN;

    while (step == READER_AGAIN)
        step = reader_next(&reading->reader, &reading->line);
    return step;
}

static void expect_line(struct reading *reading, const char *text, uint64_t number, uint64_t offset)
{
    CU_ASSERT_EQUAL_FATAL(next(reading), READER_LINE);
    CU_ASSERT_EQUAL_FATAL(reading->line.size, strlen(text));
    CU_ASSERT_EQUAL(memcmp(reading->line.text, text, strlen(text)), 0);
    CU_ASSERT_EQUAL(reading->line.number, number);
    CU_ASSERT_EQUAL(reading->line.offset, offset);
}

static void expect_too_long(struct reading *reading, uint64_t number, uint64_t offset)
{
    CU_ASSERT_EQUAL(next(reading), READER_TOO_LONG);
    CU_ASSERT_EQUAL(reading->line.number, number);
    CU_ASSERT_EQUAL(reading->line.offset, offset);
}

static void test_any_chunk_gives_the_same_lines(void)
{
    static const char text[] = "one\n\nthree\r\nfour";

    for (size_t chunk = 1; chunk <= sizeof text; chunk++) {
        struct reading reading;

        begin(&reading, text, sizeof text - 1, 8, chunk);
        expect_line(&reading, "one", 1, 0);
        expect_line(&reading, "", 2, 4);
        expect_line(&reading, "three", 3, 5);
        expect_line(&reading, "four", 4, 12);
        CU_ASSERT_EQUAL(next(&reading), READER_END);
        CU_ASSERT_EQUAL(next(&reading), READER_END);
        finish(&reading);
    }
}

static void test_empty_file_has_no_line(void)
{
    struct reading reading;

    begin(&reading, "", 0, 8, 4);
    CU_ASSERT_EQUAL(next(&reading), READER_END);
    finish(&reading);
}

static void test_carriage_return_alone_stays(void)
{
    struct reading reading;

    begin(&reading, "a\rb\n\r\nc\r", 8, 8, 4);
    expect_line(&reading, "a\rb", 1, 0);
    expect_line(&reading, "", 2, 4);
    expect_line(&reading, "c\r", 3, 6);
    CU_ASSERT_EQUAL(next(&reading), READER_END);
    finish(&reading);
}

static void test_nul_is_a_byte_like_others(void)
{
    struct reading reading;

    begin(&reading, "a\0b\n", 4, 8, 4);
    CU_ASSERT_EQUAL(next(&reading), READER_LINE);
    CU_ASSERT_EQUAL(reading.line.size, 3);
    CU_ASSERT_EQUAL(memcmp(reading.line.text, "a\0b", 3), 0);
    finish(&reading);
}

static void test_longest_line_is_a_line_and_one_more_byte_is_not(void)
{
    for (size_t chunk = 1; chunk <= 24; chunk++) {
        struct reading reading;

        begin(&reading, "12345678\n123456789\nnext\n", 24, 8, chunk);
        expect_line(&reading, "12345678", 1, 0);
        expect_too_long(&reading, 2, 9);
        expect_line(&reading, "next", 3, 19);
        CU_ASSERT_EQUAL(next(&reading), READER_END);
        finish(&reading);
    }
}

static void test_long_line_at_the_end_is_reported(void)
{
    for (size_t chunk = 1; chunk <= 24; chunk++) {
        struct reading reading;

        begin(&reading, "a\n0123456789012345678901", 24, 8, chunk);
        expect_line(&reading, "a", 1, 0);
        expect_too_long(&reading, 2, 2);
        CU_ASSERT_EQUAL(next(&reading), READER_END);
        finish(&reading);
    }
}

static void test_next_file_begins_at_line_1(void)
{
    struct reading reading;

    begin(&reading, "0123456789\nabc", 14, 4, 4);
    expect_too_long(&reading, 1, 0);
    CU_ASSERT_EQUAL(reader_open(&reading.reader, scratch_write(&reading.scratch, "b", "x\n")), 0);
    expect_line(&reading, "x", 1, 0);
    CU_ASSERT_EQUAL(next(&reading), READER_END);
    finish(&reading);
}

static void test_what_is_no_file_is_refused(void)
{
    struct reading reading;

    begin(&reading, "", 0, 4, 4);
    CU_ASSERT_EQUAL(reader_open(&reading.reader, reading.scratch.path), -1);
    CU_ASSERT_EQUAL(reading.reader.error, EISDIR);
    CU_ASSERT_EQUAL(reader_open(&reading.reader, scratch_path(&reading.scratch, "none")), -1);
    CU_ASSERT_EQUAL(reading.reader.error, ENOENT);
    CU_ASSERT_EQUAL(mkfifo(scratch_path(&reading.scratch, "fifo"), 0600), 0);
    CU_ASSERT_EQUAL(reader_open(&reading.reader, scratch_path(&reading.scratch, "fifo")), -1);
    CU_ASSERT_EQUAL(reading.reader.error, EINVAL);
    CU_ASSERT_EQUAL(next(&reading), READER_FAILED);
    finish(&reading);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "any chunk gives the same lines", test_any_chunk_gives_the_same_lines },
        { "empty file has no line", test_empty_file_has_no_line },
        { "carriage return alone stays", test_carriage_return_alone_stays },
        { "nul is a byte like others", test_nul_is_a_byte_like_others },
        { "longest line is a line and one more byte is not",
          test_longest_line_is_a_line_and_one_more_byte_is_not },
        { "long line at the end is reported", test_long_line_at_the_end_is_reported },
        { "next file begins at line 1", test_next_file_begins_at_line_1 },
        { "what is no file is refused", test_what_is_no_file_is_refused },
        CU_TEST_INFO_NULL,
    };

    return suite_run("files reader", tests);
}
