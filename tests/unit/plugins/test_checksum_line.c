/* SPDX-License-Identifier: MIT */
/*
 * Goal: a line of a list of MD5 sums is read as `md5sum -c` reads it, and other lines are refused.
 * Method: tables of lines; the expected results are those of GNU md5sum 9.1.
 */
#include <stdlib.h>
#include <string.h>

#include "../../../plugins/integrity/checksum_line.h"
#include "../host/suite.h"

#define SUM "d41d8cd98f00b204e9800998ecf8427e"
#define BSD_LINE "MD5 (path) = " SUM /* md5sum reads these; dpkg never writes them */

struct good_line {
    const char *text;
    const char *path;
};

static void expect_path(const char *text, const char *path)
{
    struct checksum_line *line = calloc(1, sizeof *line);

    CU_ASSERT_PTR_NOT_NULL_FATAL(line);
    CU_ASSERT_PTR_NULL_FATAL(checksum_line_parse(text, strlen(text), line));
    CU_ASSERT_STRING_EQUAL(line->path, path);
    CU_ASSERT_EQUAL(line->path_size, strlen(path));
    CU_ASSERT_EQUAL(line->sum[0], 0xd4);
    CU_ASSERT_EQUAL(line->sum[15], 0x7e);
    free(line);
}

static void expect_refusal(const char *text, size_t size)
{
    struct checksum_line *line = calloc(1, sizeof *line);

    CU_ASSERT_PTR_NOT_NULL_FATAL(line);
    CU_ASSERT_PTR_NOT_NULL(checksum_line_parse(text, size, line));
    free(line);
}

static void test_well_formed_line_gives_sum_and_path(void)
{
    static const struct good_line lines[] = {
        { SUM "  usr/bin/env", "usr/bin/env" },
        { SUM " *usr/bin/env", "usr/bin/env" },
        { SUM "\t usr/bin/env", "usr/bin/env" },
        { " \t" SUM "  indented", "indented" },
        { "D41D8CD98F00B204E9800998ECF8427E  upper", "upper" },
        { SUM "  two  words ", "two  words " },
        { SUM "   leading", " leading" },
        { SUM "  *star", "*star" },
        { SUM "  /absolute", "absolute" },
        { SUM "  ///absolute", "absolute" },
        { SUM "  ./dotted", "./dotted" },
        { SUM "  tab\there", "tab\there" },
        { SUM "  plain\\back", "plain\\back" },
        { "\\" SUM "  back\\\\slash", "back\\slash" },
        { "\\" SUM "  line\\nend", "line\nend" },
        { "\\" SUM "  carriage\\rreturn", "carriage\rreturn" },
        { SUM "  \xc3\xa4\xff", "\xc3\xa4\xff" },
    };

    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        expect_path(lines[i].text, lines[i].path);
}

static void test_malformed_line_is_refused(void)
{
    static const char *const lines[] = {
        "",
        "   ",
        "no sum here at all, but a long enough text",
        "d41d8cd98f00b204e9800998ecf8427",
        "d41d8cd98f00b204e9800998ecf8427g  path",
        SUM,
        SUM " ",
        SUM "  ",
        SUM "  /",
        SUM "path",
        SUM " path",
        SUM "00  path",
        "\\" SUM "  bad\\escape",
        "\\" SUM "  bad\\",
        BSD_LINE,
    };

    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        expect_refusal(lines[i], strlen(lines[i]));
}

static void test_nul_in_a_name_is_refused(void)
{
    static const char line[] = SUM "  a\0b";

    expect_refusal(line, sizeof line - 1);
}

static void test_every_shorter_line_is_read_within_its_bounds(void)
{
    static const char text[] = "\\" SUM " *a\\\\b";

    for (size_t size = 0; size < sizeof text; size++) {
        struct checksum_line *line = calloc(1, sizeof *line);
        char *exact = malloc(size ? size : 1);

        CU_ASSERT_FATAL(line && exact);
        memcpy(exact, text, size);
        (void)checksum_line_parse(exact, size, line);
        free(exact);
        free(line);
    }
}

static void test_longest_path_fits_and_one_more_byte_does_not(void)
{
    char *text = malloc(2 * PATH_MAX);
    struct checksum_line *line = calloc(1, sizeof *line);
    size_t head = strlen(SUM "  ");

    CU_ASSERT_FATAL(text && line);
    memset(text, 'x', 2 * PATH_MAX);
    memcpy(text, SUM "  ", head);
    CU_ASSERT_PTR_NULL(checksum_line_parse(text, head + PATH_MAX - 1, line));
    CU_ASSERT_EQUAL(line->path_size, PATH_MAX - 1);
    CU_ASSERT_PTR_NOT_NULL(checksum_line_parse(text, head + PATH_MAX, line));
    free(line);
    free(text);
}

static void test_blank_lines_are_known(void)
{
    CU_ASSERT_TRUE(checksum_line_is_blank("", 0));
    CU_ASSERT_TRUE(checksum_line_is_blank("# comment", 9));
    CU_ASSERT_FALSE(checksum_line_is_blank(" # text", 7));
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "well formed line gives sum and path", test_well_formed_line_gives_sum_and_path },
        { "malformed line is refused", test_malformed_line_is_refused },
        { "nul in a name is refused", test_nul_in_a_name_is_refused },
        { "every shorter line is read within its bounds",
          test_every_shorter_line_is_read_within_its_bounds },
        { "longest path fits and one more byte does not",
          test_longest_path_fits_and_one_more_byte_does_not },
        { "blank lines are known", test_blank_lines_are_known },
        CU_TEST_INFO_NULL,
    };

    return suite_run("integrity checksum line", tests);
}
