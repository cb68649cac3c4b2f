/* SPDX-License-Identifier: MIT */
/*
 * Goal: the first twenty mistakes are kept and all are counted; every one is a line with its place
 * (promise C1).
 * Method: entries with every combination of place, path and reason, printed into memory.
 */
#include "base/report.h"
#include "unit/host/suite.h"

#include <stdlib.h>
#include <string.h>

static char *printed(const struct report *report, void (*print)(const struct report *, FILE *))
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);

    CU_ASSERT_PTR_NOT_NULL_FATAL(stream);
    print(report, stream);
    (void)fclose(stream);
    return text;
}

static void expect_printed(const struct report *report, const char *expected)
{
    char *text = printed(report, report_print);

    CU_ASSERT_STRING_EQUAL(text, expected);
    free(text);
}

static void test_entry_is_printed_with_what_is_known_of_its_place(void)
{
    struct mark whole = { "weir.yaml", 3, 7 };
    struct mark line = { "weir.yaml", 3, 0 };
    struct mark file = { "weir.yaml", 0, 0 };
    struct report report;

    report_init(&report);
    report_add(&report, &whole, "pools.a.size", "must be %d..%d, got %d", 0, 9, 10);
    report_add(&report, &whole, NULL, "is wrong");
    report_add(&report, &line, "a", "is wrong");
    report_add(&report, &file, NULL, "is a directory");
    report_add(&report, NULL, "host", "is wrong");
    report_add(&report, NULL, NULL, "is wrong");
    expect_printed(&report, "weir.yaml:3:7: pools.a.size: must be 0..9, got 10\n"
                            "weir.yaml:3:7: is wrong\n"
                            "weir.yaml:3: a: is wrong\n"
                            "weir.yaml: is a directory\n"
                            "host: is wrong\n"
                            "is wrong\n");
    report_finish(&report);
}

static void test_what_was_added_may_go_away(void)
{
    char name[] = "weir.yaml";
    char path[] = "pools.a";
    struct mark mark = { name, 1, 2 };
    struct report report;

    report_init(&report);
    report_add(&report, &mark, path, "%s", name);
    memset(name, 'x', sizeof name - 1);
    memset(path, 'x', sizeof path - 1);
    expect_printed(&report, "weir.yaml:1:2: pools.a: weir.yaml\n");
    report_finish(&report);
}

static void test_more_than_twenty_are_counted(void)
{
    struct report report;
    char *text;

    report_init(&report);
    CU_ASSERT(!report_is_full(&report));
    for (int i = 0; i < 25; i++)
        report_add(&report, NULL, NULL, "number %d", i);
    text = printed(&report, report_print);
    CU_ASSERT(report_is_full(&report));
    CU_ASSERT_EQUAL(report_count(&report), 25);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "number 19\n... and 5 more\n"));
    CU_ASSERT_PTR_NULL(strstr(text, "number 20"));
    free(text);
    report_finish(&report);
    CU_ASSERT_EQUAL(report_count(&report), 0);
}

static void test_warning_is_kept_apart(void)
{
    struct mark mark = { "weir.yaml", 1, 2 };
    struct report report;
    char *text;

    report_init(&report);
    report_warn(&report, &mark, "pools.a.mailbox", "0 is unlimited");
    text = printed(&report, report_print_warnings);
    CU_ASSERT_STRING_EQUAL(text, "weir.yaml:1:2: pools.a.mailbox: warning: 0 is unlimited\n");
    CU_ASSERT_EQUAL(report_count(&report), 0);
    CU_ASSERT_EQUAL(report_warning_count(&report), 1);
    expect_printed(&report, "");
    free(text);
    report_finish(&report);
}

/* promise T5 */
static void test_control_characters_do_not_reach_the_terminal(void)
{
    struct mark mark = { "a\nb", 1, 1 };
    struct report report;

    report_init(&report);
    report_add(&report, &mark, "x\033[31m", "got \"\r\n\"");
    expect_printed(&report, "a?b:1:1: x?[31m: got \"??\"\n");
    report_finish(&report);
    report_add(&report, NULL, "\xc2\x9b", "\xe2\x80\xae \xff \xc3\xa4");
    expect_printed(&report, "??: ??? ? \xc3\xa4\n");
    report_finish(&report);
}

static void test_long_entry_is_cut_and_short_buffer_is_kept_to(void)
{
    struct mark mark = { "weir.yaml", 1, 1 };
    char long_text[5000];
    char small[8];
    struct report report;

    memset(long_text, 'a', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = '\0';
    report_init(&report);
    report_add(&report, &mark, long_text, "%s", long_text);
    CU_ASSERT(report_format(&report.errors.entries[0], small, sizeof small) > sizeof small);
    CU_ASSERT_STRING_EQUAL(small, "weir.ya");
    report_finish(&report);
}

static void test_null_report_swallows(void)
{
    report_add(NULL, NULL, NULL, "is wrong");
    report_warn(NULL, NULL, NULL, "is odd");
    CU_ASSERT(report_is_full(NULL));
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "place", test_entry_is_printed_with_what_is_known_of_its_place },
        { "copies", test_what_was_added_may_go_away },
        { "more than twenty", test_more_than_twenty_are_counted },
        { "warning", test_warning_is_kept_apart },
        { "control characters", test_control_characters_do_not_reach_the_terminal },
        { "long", test_long_entry_is_cut_and_short_buffer_is_kept_to },
        { "none", test_null_report_swallows },
        CU_TEST_INFO_NULL,
    };

    return suite_run("report", tests);
}
