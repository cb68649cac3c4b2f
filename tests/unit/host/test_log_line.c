/* SPDX-License-Identifier: MIT */
/*
 * Goal: a log line is one line of logfmt or JSON for any content, and never longer than the limit.
 * Method: the pure function, with a fixed date, compared to the byte.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "host/log/log_line.h"
#include "suite.h"

#define DATE_US 1767323045006007u /* 2026-01-02T03:04:05.006007Z */

static const char *written(const struct log_style *style, const struct log_line *line)
{
    static char text[LOG_LINE_MAX + 1];
    size_t size = log_line_write(text, style, DATE_US, line);

    CU_ASSERT_EQUAL(size, strlen(text));
    return text;
}

static const struct log_style logfmt = { .format = LOG_LOGFMT };
static const struct log_style json = { .format = LOG_JSON };

static void test_plain_line_is_logfmt(void)
{
    struct weir_field fields[] = { weir_str("pool", "images/small"), weir_int("delta", -3),
                                   weir_uint("size", 18446744073709551615u), weir_real("rate", 0.5),
                                   weir_str(NULL, NULL) };
    struct log_line line = {
        .level = WEIR_LOG_INFO, .component = "pool", .event = "resized", .fields = fields
    };

    CU_ASSERT_STRING_EQUAL(written(&logfmt, &line),
                           "ts=2026-01-02T03:04:05.006Z level=info component=pool "
                           "event=\"resized\" pool=images/small delta=-3 "
                           "size=18446744073709551615 rate=0.5\n");
}

static void test_value_that_is_not_plain_is_quoted(void)
{
    struct weir_field fields[] = { weir_str("a", "two words"),
                                   weir_str("b", ""),
                                   weir_str("c", "say \"x\"\\"),
                                   weir_str("d", "a\nb\tc\x01"),
                                   weir_str("e", "na\xc3\xafve \xff"),
                                   weir_str("f", NULL),
                                   weir_str(NULL, NULL) };
    struct log_line line = {
        .level = WEIR_LOG_ERROR, .component = "x y", .event = "e", .fields = fields
    };

    CU_ASSERT_STRING_EQUAL(written(&logfmt, &line),
                           "ts=2026-01-02T03:04:05.006Z level=error component=\"x y\" event=\"e\" "
                           "a=\"two words\" b=\"\" c=\"say \\\"x\\\"\\\\\" d=\"a\\nb\\tc\\x01\" "
                           "e=\"na\xc3\xafve \\xff\" f=\"\"\n");
}

/* For people: local time, the level in colour when asked; nothing can end or colour the line. */
static void test_same_line_is_text(void)
{
    struct log_style text = { .format = LOG_TEXT, .zone_s = 2 * 3600 };
    struct weir_field fields[] = { weir_str("why", "two words"), weir_int("n", -1),
                                   weir_str(NULL, NULL) };
    struct log_line line = { .level = WEIR_LOG_WARNING,
                             .component = "db#1",
                             .event = "a \"b\"\n\x1b[31m",
                             .fields = fields };

    CU_ASSERT_STRING_EQUAL(written(&text, &line), "05:04:05.006 warning db#1: a \"b\"\\n\\x1b[31m "
                                                  "why=\"two words\" n=-1\n");
    text.colour = true;
    line.fields = NULL;
    line.event = "e";
    CU_ASSERT_STRING_EQUAL(written(&text, &line), "05:04:05.006 \033[33mwarning\033[0m db#1: e\n");
}

/* At the ends of months, of leap years, and of centuries with and without a leap day. */
static void test_date_is_that_of_the_calendar(void)
{
    static const struct {
        uint64_t seconds;
        const char *date;
    } rows[] = {
        { 0, "1970-01-01T00:00:00" },           { 951782399, "2000-02-28T23:59:59" },
        { 951782400, "2000-02-29T00:00:00" },   { 951868800, "2000-03-01T00:00:00" },
        { 1704067199, "2023-12-31T23:59:59" },  { 1709164800, "2024-02-29T00:00:00" },
        { 1740787200, "2025-03-01T00:00:00" },  { 1798761599, "2026-12-31T23:59:59" },
        { 4107542400, "2100-03-01T00:00:00" },  { 4107542399, "2100-02-28T23:59:59" },
        { 13574563200, "2400-02-29T00:00:00" },
    };
    struct log_line line = { .level = WEIR_LOG_INFO, .component = "c", .event = "e" };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[LOG_LINE_MAX + 1], expected[64];

        (void)log_line_write(text, &logfmt, rows[i].seconds * 1000000, &line);
        (void)snprintf(expected, sizeof expected, "ts=%s.000Z ", rows[i].date);
        text[strlen(expected)] = '\0';
        CU_ASSERT_STRING_EQUAL(text, expected);
    }
}

static void test_same_line_is_json(void)
{
    struct weir_field fields[] = { weir_str("a", "q\"\n\x01\xff"), weir_int("n", -1),
                                   weir_real("r", 1.0 / 3), weir_str(NULL, NULL) };
    struct log_line line = {
        .level = WEIR_LOG_WARNING, .component = "pool", .event = "it is full", .fields = fields
    };

    CU_ASSERT_STRING_EQUAL(written(&json, &line),
                           "{\"ts\":\"2026-01-02T03:04:05.006Z\",\"level\":\"warning\","
                           "\"component\":\"pool\",\"event\":\"it is full\","
                           "\"a\":\"q\\\"\\n\\u0001\\ufffd\",\"n\":-1,\"r\":0.333333}\n");
}

static void test_surrogate_and_overlong_bytes_are_no_characters(void)
{
    struct weir_field fields[] = { weir_str("a", "\xed\xa0\x80"), weir_str("b", "\xc0\xaf"),
                                   weir_str("c", "\xe2\x82\xac"), weir_str("d", "\xe2\x82"),
                                   weir_str(NULL, NULL) };
    struct log_line line = {
        .level = WEIR_LOG_DEBUG, .component = "c", .event = "e", .fields = fields
    };

    CU_ASSERT_PTR_NOT_NULL(strstr(written(&json, &line),
                                  "\"a\":\"\\ufffd\\ufffd\\ufffd\",\"b\":\"\\ufffd\\ufffd\","
                                  "\"c\":\"\xe2\x82\xac\",\"d\":\"\\ufffd\\ufffd\"}"));
}

/* promise T5: U+009B begins an escape sequence, U+202E turns the line round. */
static void test_what_a_terminal_obeys_is_escaped(void)
{
    struct weir_field fields[] = { weir_str("a", "\xc2\x9b"
                                                 "2J"),
                                   weir_str("b", "\xe2\x80\xae"),
                                   weir_str("c\xc2\x9b", "\xe2\x81\xa6"), weir_str(NULL, NULL) };
    struct log_line line = {
        .level = WEIR_LOG_DEBUG, .component = "c", .event = "e", .fields = fields
    };

    CU_ASSERT_PTR_NOT_NULL(strstr(written(&logfmt, &line),
                                  "a=\"\\xc2\\x9b2J\" b=\"\\xe2\\x80\\xae\" "
                                  "c__=\"\\xe2\\x81\\xa6\"\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(written(&json, &line), "\"a\":\"\\ufffd\\ufffd2J\""));
}

static void test_real_that_is_no_number_is_null_in_json(void)
{
    double zero = 0;
    struct weir_field fields[] = { weir_real("a", 1 / zero), weir_str(NULL, NULL) };
    struct log_line line = {
        .level = WEIR_LOG_INFO, .component = "c", .event = "e", .fields = fields
    };

    CU_ASSERT_PTR_NOT_NULL(strstr(written(&json, &line), "\"a\":null}"));
}

static void test_journal_gets_a_priority(void)
{
    struct log_style style = { .format = LOG_LOGFMT, .journal = true };
    struct log_line line = { .level = WEIR_LOG_WARNING, .component = "c", .event = "e" };

    CU_ASSERT_EQUAL(strncmp(written(&style, &line), "<4>ts=", 6), 0);
}

static void test_key_with_space_cannot_forge_a_field(void)
{
    struct weir_field fields[] = { weir_str("a b=c\n", "1"), weir_str(NULL, NULL) };
    struct log_line line = {
        .level = WEIR_LOG_INFO, .component = "c", .event = "e", .fields = fields
    };

    CU_ASSERT_PTR_NOT_NULL(strstr(written(&logfmt, &line), " a_b_c_=1\n"));
}

static void test_field_over_the_limit_is_left_out_whole(void)
{
    char large[LOG_LINE_MAX];
    struct weir_field fields[] = { weir_str("a", "1"), weir_str("large", large), weir_str("z", "2"),
                                   weir_str(NULL, NULL) };
    struct log_line line = {
        .level = WEIR_LOG_INFO, .component = "c", .event = "e", .fields = fields
    };
    const char *text;

    memset(large, 'x', sizeof large - 1);
    large[sizeof large - 1] = '\0';
    text = written(&logfmt, &line);
    CU_ASSERT(strlen(text) <= LOG_LINE_MAX);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "event=\"e\" a=1 cut=true\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(written(&json, &line), ",\"a\":\"1\",\"cut\":true}\n"));
}

static void test_event_over_the_limit_is_reported(void)
{
    char large[LOG_LINE_MAX + 1];
    struct log_line line = { .level = WEIR_LOG_INFO, .component = "c", .event = large };

    memset(large, 'x', sizeof large - 1);
    large[sizeof large - 1] = '\0';
    CU_ASSERT_PTR_NOT_NULL(strstr(written(&logfmt, &line), "component=log"));
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "plain line is logfmt", test_plain_line_is_logfmt },
        { "text", test_same_line_is_text },
        { "value that is not plain is quoted", test_value_that_is_not_plain_is_quoted },
        { "same line is JSON", test_same_line_is_json },
        { "surrogates and overlong bytes", test_surrogate_and_overlong_bytes_are_no_characters },
        { "date is that of the calendar", test_date_is_that_of_the_calendar },
        { "real that is no number", test_real_that_is_no_number_is_null_in_json },
        { "journal gets a priority", test_journal_gets_a_priority },
        { "key cannot forge a field", test_key_with_space_cannot_forge_a_field },
        { "field over the limit", test_field_over_the_limit_is_left_out_whole },
        { "event over the limit", test_event_over_the_limit_is_reported },
        { "what a terminal obeys", test_what_a_terminal_obeys_is_escaped },
        CU_TEST_INFO_NULL,
    };

    return suite_run("log_line", tests);
}
