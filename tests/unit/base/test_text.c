/* SPDX-License-Identifier: MIT */
/*
 * Goal: texts become numbers exactly or not at all, names similar to a word are found, and stored
 * texts stay.
 * Method: tables of texts with the expected verdict and value; limits and one past them.
 */
#include "base/text.h"
#include "unit/host/suite.h"

#include <stdio.h>
#include <string.h>

#define ROWS(table) (sizeof(table) / sizeof(table)[0])

static void test_whole_number_is_read_up_to_the_largest(void)
{
    static const struct {
        const char *text;
        enum text_verdict verdict;
        uint64_t value;
    } rows[] = {
        { "0", TEXT_OK, 0 },
        { "42", TEXT_OK, 42 },
        { "18446744073709551615", TEXT_OK, UINT64_MAX },
        { "18446744073709551616", TEXT_TOO_LARGE, 0 },
        { "99999999999999999999999", TEXT_TOO_LARGE, 0 },
        { "", TEXT_MALFORMED, 0 },
        { "-1", TEXT_MALFORMED, 0 },
        { "+1", TEXT_MALFORMED, 0 },
        { "010", TEXT_MALFORMED, 0 },
        { "0x10", TEXT_MALFORMED, 0 },
        { " 1", TEXT_MALFORMED, 0 },
        { "1 ", TEXT_MALFORMED, 0 },
        { "1_000", TEXT_MALFORMED, 0 },
        { "1e3", TEXT_MALFORMED, 0 },
    };

    for (size_t i = 0; i < ROWS(rows); i++) {
        uint64_t value = 7;

        CU_ASSERT_EQUAL(text_parse_u64(rows[i].text, &value), rows[i].verdict);
        CU_ASSERT_EQUAL(value, rows[i].verdict == TEXT_OK ? rows[i].value : 7);
    }
}

static void test_signed_number_is_read_to_both_ends(void)
{
    int64_t value = 7;

    CU_ASSERT_EQUAL(text_parse_i64("-9223372036854775808", &value), TEXT_OK);
    CU_ASSERT_EQUAL(value, INT64_MIN);
    CU_ASSERT_EQUAL(text_parse_i64("9223372036854775807", &value), TEXT_OK);
    CU_ASSERT_EQUAL(value, INT64_MAX);
    CU_ASSERT_EQUAL(text_parse_i64("-0", &value), TEXT_OK);
    CU_ASSERT_EQUAL(value, 0);
    CU_ASSERT_EQUAL(text_parse_i64("9223372036854775808", &value), TEXT_TOO_LARGE);
    CU_ASSERT_EQUAL(text_parse_i64("-9223372036854775809", &value), TEXT_TOO_LARGE);
    CU_ASSERT_EQUAL(text_parse_i64("--1", &value), TEXT_MALFORMED);
    CU_ASSERT_EQUAL(text_parse_i64("-", &value), TEXT_MALFORMED);
    CU_ASSERT_EQUAL(value, 0);
}

static void test_real_number_is_plain_and_finite(void)
{
    static const char *const refused[] = { "inf", "nan", ".inf", "0x1p3", "1.2.3", "",
                                           ".",   "-",   "1e",   "e3",    " 1",    "1,5" };
    double value = 7;

    CU_ASSERT_EQUAL(text_parse_f64("-1.5e-3", &value), TEXT_OK);
    CU_ASSERT_DOUBLE_EQUAL(value, -0.0015, 0);
    CU_ASSERT_EQUAL(text_parse_f64(".5", &value), TEXT_OK);
    CU_ASSERT_DOUBLE_EQUAL(value, 0.5, 0);
    for (size_t i = 0; i < ROWS(refused); i++)
        CU_ASSERT_EQUAL(text_parse_f64(refused[i], &value), TEXT_MALFORMED);
    CU_ASSERT_EQUAL(text_parse_f64("1e999", &value), TEXT_TOO_LARGE);
    CU_ASSERT_DOUBLE_EQUAL(value, 0.5, 0);
}

static void test_truth_is_true_or_false_alone(void)
{
    bool value = false;

    CU_ASSERT_EQUAL(text_parse_bool("true", &value), TEXT_OK);
    CU_ASSERT(value);
    CU_ASSERT_EQUAL(text_parse_bool("false", &value), TEXT_OK);
    CU_ASSERT(!value);
    CU_ASSERT_EQUAL(text_parse_bool("yes", &value), TEXT_MALFORMED);
    CU_ASSERT_EQUAL(text_parse_bool("True", &value), TEXT_MALFORMED);
    CU_ASSERT_EQUAL(text_parse_bool("1", &value), TEXT_MALFORMED);
}

static void test_size_takes_binary_units(void)
{
    uint64_t value = 7;

    CU_ASSERT_EQUAL(text_parse_size("4096", &value), TEXT_OK);
    CU_ASSERT_EQUAL(value, 4096);
    CU_ASSERT_EQUAL(text_parse_size("64KiB", &value), TEXT_OK);
    CU_ASSERT_EQUAL(value, 65536);
    CU_ASSERT_EQUAL(text_parse_size("3TiB", &value), TEXT_OK);
    CU_ASSERT_EQUAL(value, UINT64_C(3) << 40);
    CU_ASSERT_EQUAL(text_parse_size("16777216TiB", &value), TEXT_TOO_LARGE);
    CU_ASSERT_EQUAL(text_parse_size("1GB", &value), TEXT_MALFORMED);
    CU_ASSERT_EQUAL(text_parse_size("1 KiB", &value), TEXT_MALFORMED);
    CU_ASSERT_EQUAL(text_parse_size("KiB", &value), TEXT_MALFORMED);
    CU_ASSERT_EQUAL(value, UINT64_C(3) << 40);
}

static void test_duration_needs_its_unit(void)
{
    uint64_t value = 7;

    CU_ASSERT_EQUAL(text_parse_duration("250ms", &value), TEXT_OK);
    CU_ASSERT_EQUAL(value, 250);
    CU_ASSERT_EQUAL(text_parse_duration("2m", &value), TEXT_OK);
    CU_ASSERT_EQUAL(value, 120000);
    CU_ASSERT_EQUAL(text_parse_duration("1h", &value), TEXT_OK);
    CU_ASSERT_EQUAL(value, 3600000);
    CU_ASSERT_EQUAL(text_parse_duration("0", &value), TEXT_OK);
    CU_ASSERT_EQUAL(value, 0);
    CU_ASSERT_EQUAL(text_parse_duration("10", &value), TEXT_NO_UNIT);
    CU_ASSERT_EQUAL(text_parse_duration("10sec", &value), TEXT_MALFORMED);
    CU_ASSERT_EQUAL(text_parse_duration("1.5s", &value), TEXT_MALFORMED);
    CU_ASSERT_EQUAL(text_parse_duration("999999999999999999d", &value), TEXT_TOO_LARGE);
    CU_ASSERT_EQUAL(text_parse_duration("99999999999999999999s", &value), TEXT_TOO_LARGE);
    CU_ASSERT_EQUAL(value, 0);
}

static void expect_size(uint64_t bytes, const char *expected)
{
    char text[32];

    text_format_size(bytes, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, expected);
}

static void expect_duration(uint64_t milliseconds, const char *expected)
{
    char text[32];

    text_format_duration(milliseconds, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, expected);
}

static void test_number_is_written_in_its_largest_exact_unit(void)
{
    expect_size(0, "0");
    expect_size(1000, "1000");
    expect_size(65536, "64KiB");
    expect_size((UINT64_C(1) << 30) + 1024, "1048577KiB");
    expect_duration(0, "0s");
    expect_duration(1500, "1500ms");
    expect_duration(90000, "90s");
    expect_duration(3600000, "1h");
    expect_duration(86400000, "1d");
}

static const char *nearest(const char *word)
{
    static const char *const names[] = { "mailbox", "members", "route", "size", "to", "use" };
    struct text_guess guess;

    text_guess_init(&guess, word);
    for (size_t i = 0; i < ROWS(names); i++)
        text_guess_offer(&guess, names[i]);
    return text_guess_best(&guess);
}

static void test_slip_of_the_pen_is_understood(void)
{
    CU_ASSERT_STRING_EQUAL(nearest("mailbx"), "mailbox");
    CU_ASSERT_STRING_EQUAL(nearest("mialbox"), "mailbox");
    CU_ASSERT_STRING_EQUAL(nearest("memberss"), "members");
    CU_ASSERT_STRING_EQUAL(nearest("sise"), "size");
    CU_ASSERT_STRING_EQUAL(nearest("too"), "to");
}

static void test_other_word_is_no_slip(void)
{
    static const char far[] = "mailboxmailboxmailboxmailboxmailboxmailboxmailboxmailboxmailbox+";

    CU_ASSERT_PTR_NULL(nearest("anything"));
    CU_ASSERT_PTR_NULL(nearest("x"));
    CU_ASSERT_PTR_NULL(nearest(""));
    CU_ASSERT_PTR_NULL(nearest(far));
}

/* As a text-book has it: the whole table. */
static size_t plain_distance(const char *a, const char *b)
{
    size_t table[16][16];
    size_t a_length = strlen(a);
    size_t b_length = strlen(b);

    for (size_t i = 0; i <= a_length; i++) {
        for (size_t j = 0; j <= b_length; j++) {
            size_t best = i == 0 ? j : j == 0 ? i : SIZE_MAX;

            if (i > 0 && table[i - 1][j] + 1 < best)
                best = table[i - 1][j] + 1;
            if (j > 0 && table[i][j - 1] + 1 < best)
                best = table[i][j - 1] + 1;
            if (i > 0 && j > 0 && table[i - 1][j - 1] + (a[i - 1] != b[j - 1]) < best)
                best = table[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                table[i - 2][j - 2] + 1 < best)
                best = table[i - 2][j - 2] + 1;
            table[i][j] = best;
        }
    }
    return table[a_length][b_length];
}

static void draw_word(uint64_t *random, char *word)
{
    size_t length;

    *random = *random * UINT64_C(6364136223846793005) + 1442695040888963407u;
    length = 1 + (size_t)(*random >> 33) % 14;
    for (size_t i = 0; i < length; i++) {
        *random = *random * UINT64_C(6364136223846793005) + 1442695040888963407u;
        word[i] = "abc"[(*random >> 33) % 3];
    }
    word[length] = '\0';
}

/* Few letters: most words are similar to some other. */
static void test_nearest_of_random_words_is_the_one_of_the_whole_table(void)
{
    uint64_t random = 1;

    for (int round = 0; round < 2000; round++) {
        char words[5][16];
        const char *best = NULL;
        struct text_guess guess;
        size_t length, allowed;

        for (int i = 0; i < 5; i++)
            draw_word(&random, words[i]);
        length = strlen(words[0]);
        allowed = length == 1 ? 0 : length < 3 ? 1 : length / 3;
        text_guess_init(&guess, words[0]);
        for (int i = 1; i < 5; i++) {
            size_t distance = plain_distance(words[0], words[i]);

            text_guess_offer(&guess, words[i]);
            if (distance > allowed || (best && distance >= plain_distance(words[0], best)))
                continue;
            best = words[i];
        }
        CU_ASSERT_PTR_EQUAL(text_guess_best(&guess), best);
    }
}

static void test_of_very_many_long_names_not_all_are_looked_at(void)
{
    char word[] = "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijk";
    char name[] = "kbcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghija";
    struct text_guess guess;

    text_guess_init(&guess, word);
    for (int i = 0; i < 100000; i++)
        text_guess_offer(&guess, name);
    CU_ASSERT_PTR_EQUAL(text_guess_best(&guess), name);
    CU_ASSERT(guess.work > 0);
    CU_ASSERT(guess.work < 200000);
}

static void test_kept_text_stays_beside_large_and_small(void)
{
    struct text_store store;
    const char *first;
    const char *large;
    char *array;

    text_store_init(&store);
    first = text_store_copy(&store, "first");
    array = text_store_take_array(&store, 100000, 1);
    CU_ASSERT_PTR_NOT_NULL_FATAL(array);
    CU_ASSERT_EQUAL(array[0] + array[99999], 0);
    memset(array, 'x', 100000);
    large = text_store_copy_size(&store, array, 99999);
    for (int i = 0; i < 1000; i++)
        CU_ASSERT_PTR_NOT_NULL(text_store_format(&store, "%d", i));
    CU_ASSERT_STRING_EQUAL(first, "first");
    CU_ASSERT_EQUAL(strlen(large), 99999);
    CU_ASSERT_EQUAL((uintptr_t)text_store_take(&store, 3) % _Alignof(max_align_t), 0);
    text_store_finish(&store);
}

static void test_size_past_all_memory_is_refused(void)
{
    struct text_store store;

    text_store_init(&store);
    CU_ASSERT_PTR_NULL(text_store_take_array(&store, SIZE_MAX / 2, 3));
    CU_ASSERT_PTR_NULL(text_store_take(&store, SIZE_MAX));
    text_store_finish(&store);
}

static void test_cut_text_ends_at_a_character(void)
{
    static const struct {
        const char *text, *wanted;
    } rows[] = {
        { "", "" },
        { "plain", "plain" },
        { "a\xc3\xa9", "a\xc3\xa9" },
        { "a\xc3", "a" },
        { "a\xe2\x82\xac", "a\xe2\x82\xac" },
        { "a\xe2\x82", "a" },
        { "a\xe2", "a" },
        { "a\xf0\x9f\x98\x80", "a\xf0\x9f\x98\x80" },
        { "a\xf0\x9f\x98", "a" },
        { "a\xf0", "a" },
        { "\xf0\x9f", "" },
        { "\x80\x80", "\x80\x80" }, /* no UTF-8: stays */
    };

    for (size_t i = 0; i < ROWS(rows); i++) {
        char text[16];

        (void)snprintf(text, sizeof text, "%s", rows[i].text);
        text_end_at_character(text);
        CU_ASSERT_STRING_EQUAL(text, rows[i].wanted);
    }
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "whole number", test_whole_number_is_read_up_to_the_largest },
        { "signed number", test_signed_number_is_read_to_both_ends },
        { "real number", test_real_number_is_plain_and_finite },
        { "truth", test_truth_is_true_or_false_alone },
        { "size", test_size_takes_binary_units },
        { "duration", test_duration_needs_its_unit },
        { "cut", test_cut_text_ends_at_a_character },
        { "written", test_number_is_written_in_its_largest_exact_unit },
        { "slip", test_slip_of_the_pen_is_understood },
        { "no slip", test_other_word_is_no_slip },
        { "nearest", test_nearest_of_random_words_is_the_one_of_the_whole_table },
        { "very many", test_of_very_many_long_names_not_all_are_looked_at },
        { "kept", test_kept_text_stays_beside_large_and_small },
        { "too much", test_size_past_all_memory_is_refused },
        CU_TEST_INFO_NULL,
    };

    return suite_run("text", tests);
}
