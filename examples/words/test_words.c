/* SPDX-License-Identifier: MIT */
/*
 * Goal: lines become groups of words, groups become totals, totals become the printed table; a lack
 * of memory never counts a line twice; a line that overtook another one is reported. Method:
 * <weir/testkit.h> stands in for the host; the messages of one behaviour are given to the next.
 */
#include <stdlib.h>

#include <CUnit/Basic.h>
#include <CUnit/CUnit.h>

#include <weir/messages/files.h>
#include <weir/testkit.h>

#include "words.h"

extern const struct weir_plugin weir_plugin_v1;

static struct weir_kit *open_kit(const char *behaviour, const char *args)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, behaviour);

    CU_ASSERT_PTR_NOT_NULL_FATAL(kit);
    CU_ASSERT_EQUAL(weir_kit_open_args(kit, args), 0);
    return kit;
}

/* Gives a line of the file `texts` to the splitter. Returns the verdict. */
static int give_line(struct weir_kit *split, uint64_t number, const char *text, size_t size)
{
    const char name[] = "texts";
    size_t payload = sizeof(struct files_line) + sizeof name + size + 1;
    struct files_line *line = calloc(1, payload);
    struct weir_message like = { .data = line,
                                 .size = payload,
                                 .tag = weir_kit_tag(split, FILES_LINE_TAG),
                                 .key = weir_key(name, sizeof name - 1),
                                 .kind = WEIR_MESSAGE,
                                 .attempt = 1 };
    int verdict;

    *line = (struct files_line){ .name_size = sizeof name - 1,
                                 .line_size = (uint32_t)size,
                                 .number = number };
    memcpy(line + 1, name, sizeof name);
    memcpy((char *)(line + 1) + sizeof name, text, size);
    verdict = weir_kit_deliver(split, &like);
    free(line);
    return verdict;
}

/* Gives the emitted messages of `from` to `to`. */
static void hand_over(struct weir_kit *from, struct weir_kit *to)
{
    const struct weir_message *message;

    for (size_t i = 0; (message = weir_kit_emitted(from, 0, i)); i++)
        CU_ASSERT_EQUAL(weir_kit_deliver(to, message), WEIR_DONE);
}

/* Compares the printed text for some lines. */
static void expect_report(const char *const *lines, const char *expected)
{
    struct weir_kit *split = open_kit("split", "");
    struct weir_kit *count = open_kit("count", "");
    struct weir_kit *report = open_kit("report", "top: 0");

    for (size_t i = 0; lines[i]; i++)
        CU_ASSERT_EQUAL(give_line(split, i + 1, lines[i], strlen(lines[i])), WEIR_DONE);
    hand_over(split, count);
    weir_kit_close(count, WEIR_END_SHUTDOWN);
    hand_over(count, report);
    weir_kit_close(report, WEIR_END_SHUTDOWN);
    CU_ASSERT_STRING_EQUAL(weir_kit_printed(report), expected);
    CU_ASSERT_EQUAL(weir_kit_destroy(split), 0);
    CU_ASSERT_EQUAL(weir_kit_destroy(count), 0);
    CU_ASSERT_EQUAL(weir_kit_destroy(report), 0);
}

static void test_words_are_counted(void)
{
    const char *const lines[] = { "The weir, the river:", "", "  A RIVER; \xC3\xA9t\xC3\xA9 2nd ",
                                  NULL };

    expect_report(lines, "      2 river\n      2 the\n      1 a\n      1 nd\n      1 weir\n"
                         "      1 \xC3\xA9t\xC3\xA9\n"
                         "# shard 0: 8 words\n"
                         "# 8 words, 6 different; 0 groups out of order\n");
}

static void test_no_words_are_reported(void)
{
    const char *const lines[] = { "", "12 + 3", NULL };

    expect_report(lines, "# shard 0: 0 words\n# 0 words, 0 different; 0 groups out of order\n");
}

static void test_equal_words_have_equal_keys(void)
{
    struct weir_kit *split = open_kit("split", "");

    CU_ASSERT_EQUAL(give_line(split, 1, "word", 4), WEIR_DONE);
    CU_ASSERT_EQUAL(give_line(split, 2, "WORD!", 5), WEIR_DONE);
    CU_ASSERT_EQUAL_FATAL(weir_kit_sent_count(split), 2);
    CU_ASSERT_NOT_EQUAL(weir_kit_emitted(split, 0, 0)->key, 0);
    CU_ASSERT_EQUAL(weir_kit_emitted(split, 0, 0)->key, weir_kit_emitted(split, 0, 1)->key);
    CU_ASSERT_EQUAL(weir_kit_destroy(split), 0);
}

/* 26 * 26 words in one line: more than may wait at an output as single messages. */
static void test_long_line_gives_few_messages(void)
{
    struct weir_kit *split = open_kit("split", "");
    char line[26 * 26 * 3];

    for (size_t i = 0; i < 26 * 26; i++) {
        line[i * 3] = (char)('a' + i / 26);
        line[i * 3 + 1] = (char)('a' + i % 26);
        line[i * 3 + 2] = ' ';
    }
    CU_ASSERT_EQUAL(give_line(split, 1, line, sizeof line), WEIR_DONE);
    CU_ASSERT_EQUAL(weir_kit_sent_count(split), WORDS_GROUPS);
    CU_ASSERT_EQUAL(weir_kit_destroy(split), 0);
}

/* For each message of the line without memory: nothing was emitted, and nothing is left over. */
static void test_short_memory_sends_nothing(void)
{
    const char line[] = "no line is ever counted twice";

    for (uint32_t nth = 1; nth <= 6; nth++) {
        struct weir_kit *split = open_kit("split", "");

        weir_kit_fail_allocation(split, nth);
        CU_ASSERT_EQUAL(give_line(split, 1, line, sizeof line - 1), WEIR_RETRY);
        CU_ASSERT_EQUAL(weir_kit_sent_count(split), 0);
        CU_ASSERT_EQUAL(give_line(split, 1, line, sizeof line - 1), WEIR_DONE);
        CU_ASSERT_EQUAL(weir_kit_sent_count(split), 6);
        CU_ASSERT_EQUAL(weir_kit_destroy(split), 0);
    }
}

static void test_overtaking_line_is_reported(void)
{
    struct weir_kit *split = open_kit("split", "");
    struct weir_kit *count = open_kit("count", "");
    const struct words_totals *totals;

    CU_ASSERT_EQUAL(give_line(split, 7, "later", 5), WEIR_DONE);
    CU_ASSERT_EQUAL(give_line(split, 6, "earlier", 7), WEIR_DONE);
    CU_ASSERT_EQUAL(give_line(split, 8, "last", 4), WEIR_DONE);
    hand_over(split, count);
    weir_kit_close(count, WEIR_END_SHUTDOWN);
    CU_ASSERT_EQUAL_FATAL(weir_kit_sent_count(count), 1);
    totals = words_totals_get(weir_kit_emitted(count, 0, 0));
    CU_ASSERT_PTR_NOT_NULL_FATAL(totals);
    CU_ASSERT_EQUAL(totals->unordered, 1);
    CU_ASSERT_EQUAL(totals->words, 3);
    CU_ASSERT_EQUAL(weir_kit_destroy(split), 0);
    CU_ASSERT_EQUAL(weir_kit_destroy(count), 0);
}

static void test_lost_totals_are_reported(void)
{
    struct weir_kit *count = open_kit("count", "");

    weir_kit_limit(count, 0, WEIR_EFULL);
    weir_kit_close(count, WEIR_END_SHUTDOWN);
    CU_ASSERT_EQUAL(weir_kit_exit_status(count), 1);
    CU_ASSERT_STRING_EQUAL(weir_kit_logged(count), "error totals lost reason=no worker has room\n");
    CU_ASSERT_EQUAL(weir_kit_destroy(count), 0);
}

static void test_other_message_is_rejected(void)
{
    const char *const behaviours[] = { "split", "count", "report" };
    const char *const tags[] = { FILES_LINE_TAG, WORDS_GROUP_TAG, WORDS_TOTALS_TAG };

    for (size_t i = 0; i < 3; i++) {
        struct weir_kit *kit = open_kit(behaviours[i], "");

        CU_ASSERT_EQUAL(weir_kit_handle(kit, "other/1", NULL, 0), WEIR_REJECT);
        CU_ASSERT_EQUAL(weir_kit_handle(kit, tags[i], "too short", 9), WEIR_REJECT);
        CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
    }
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "words_are_counted", test_words_are_counted },
        { "no_words_are_reported", test_no_words_are_reported },
        { "equal_words_have_equal_keys", test_equal_words_have_equal_keys },
        { "long_line_gives_few_messages", test_long_line_gives_few_messages },
        { "short_memory_sends_nothing", test_short_memory_sends_nothing },
        { "overtaking_line_is_reported", test_overtaking_line_is_reported },
        { "lost_totals_are_reported", test_lost_totals_are_reported },
        { "other_message_is_rejected", test_other_message_is_rejected },
        CU_TEST_INFO_NULL,
    };
    CU_SuiteInfo suites[] = { { .pName = "words", .pTests = tests }, CU_SUITE_INFO_NULL };
    unsigned failures;

    if (CU_initialize_registry() != CUE_SUCCESS || CU_register_suites(suites) != CUE_SUCCESS)
        return 1;
    CU_basic_run_tests();
    failures = CU_get_number_of_failures();
    CU_cleanup_registry();
    return failures != 0;
}
