/* SPDX-License-Identifier: MIT */
/*
 * Goal: for any name, a line of the report stays one line without control characters; and `printf
 * '%b'` gives the name back.
 * Method: tables of bytes and their escaped texts.
 */
#include <string.h>

#include "../../../plugins/report/printable.h"
#include "../host/suite.h"

struct name_case {
    const char *name;
    const char *shown;
};

struct bytes_case {
    uint64_t bytes;
    const char *shown;
};

static void expect_text(const struct printable *printable, const char *text)
{
    CU_ASSERT_FALSE(printable->failed);
    CU_ASSERT_EQUAL_FATAL(printable->size, strlen(text));
    CU_ASSERT_EQUAL(memcmp(printable->text, text, strlen(text)), 0);
}

static void expect_name(const char *name, const char *shown)
{
    struct printable printable;

    printable_init(&printable);
    printable_add_name(&printable, name, strlen(name));
    if (shown[0])
        expect_text(&printable, shown);
    printable_finish(&printable);
}

static void test_name_is_shown_without_control_characters(void)
{
    static const struct name_case names[] = {
        { "", "" },
        { "plain name", "plain name" },
        { "line\nend", "line\\nend" },
        { "tab\there", "tab\\there" },
        { "carriage\rreturn", "carriage\\rreturn" },
        { "back\\slash", "back\\\\slash" },
        { "esc\x1b[31m", "esc\\x1b[31m" },
        { "del\x7f", "del\\x7f" },
        { "\xc3\xa4\xe2\x82\xac\xf0\x9f\x92\xa7", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x92\xa7" },
        { "\xc2\x9b"
          "31m",
          "\\xc2\\x9b31m" },
        { "\xc2\xa0", "\xc2\xa0" },
        { "gpj.\xe2\x80\xae", "gpj.\\xe2\\x80\\xae" },
    };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        expect_name(names[i].name, names[i].shown);
}

static void test_bytes_that_are_no_utf8_are_shown_as_numbers(void)
{
    static const struct name_case names[] = {
        { "\xff", "\\xff" },
        { "\x80", "\\x80" },
        { "\xc3", "\\xc3" },
        { "\xc3(", "\\xc3(" },
        { "\xc0\xaf", "\\xc0\\xaf" },
        { "\xe0\x80\xaf", "\\xe0\\x80\\xaf" },
        { "\xed\xa0\x80", "\\xed\\xa0\\x80" },
        { "\xe2\x82", "\\xe2\\x82" },
        { "\xe2\x82z", "\\xe2\\x82z" },
        { "\xf0\x80\x80\x80", "\\xf0\\x80\\x80\\x80" },
        { "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80" },
        { "\xf5\x80\x80\x80", "\\xf5\\x80\\x80\\x80" },
    };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        expect_name(names[i].name, names[i].shown);
}

static void test_bytes_are_shown_in_a_unit_for_people(void)
{
    static const struct bytes_case cases[] = {
        { 0, "0 B" },
        { 999, "999 B" },
        { 1000, "1.0 kB" },
        { 1999, "1.9 kB" },
        { 999999, "999.9 kB" },
        { 3400000000u, "3.4 GB" },
        { UINT64_MAX, "18.4 EB" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct printable printable;

        printable_init(&printable);
        printable_add_bytes(&printable, cases[i].bytes);
        expect_text(&printable, cases[i].shown);
        printable_finish(&printable);
    }
}

static void test_padding_ends_at_the_column(void)
{
    struct printable printable;

    printable_init(&printable);
    printable_add(&printable, "ab");
    printable_pad(&printable, 0, 4);
    printable_add_number(&printable, 7);
    printable_pad(&printable, 0, 3);
    expect_text(&printable, "ab  7");
    printable_clear(&printable);
    expect_text(&printable, "");
    printable_finish(&printable);
}

static void test_long_names_find_room(void)
{
    struct printable printable;

    printable_init(&printable);
    for (unsigned i = 0; i < 10000; i++)
        printable_add_name(&printable, "\n", 1);
    CU_ASSERT_FALSE(printable.failed);
    CU_ASSERT_EQUAL(printable.size, 20000);
    printable_finish(&printable);
    printable_finish(&printable);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "name is shown without control characters",
          test_name_is_shown_without_control_characters },
        { "bytes that are no utf8 are shown as numbers",
          test_bytes_that_are_no_utf8_are_shown_as_numbers },
        { "bytes are shown in a unit for people", test_bytes_are_shown_in_a_unit_for_people },
        { "padding ends at the column", test_padding_ends_at_the_column },
        { "long names find room", test_long_names_find_room },
        CU_TEST_INFO_NULL,
    };

    return suite_run("report printable", tests);
}
