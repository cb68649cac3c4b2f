/* SPDX-License-Identifier: MIT */
/*
 * Goal: numbers, sizes, ages and names take at most the columns that their tables give them, and
 * lines at most a page; words fit the number before them.
 * Method: tables of values with the expected cell, each limit and one past it; then values of every
 * length against the width alone.
 */
#include "base/columns.h"
#include "base/plural.h"
#include "unit/host/suite.h"

#include <stdlib.h>
#include <string.h>

#define ROWS(table) (sizeof(table) / sizeof(table)[0])

struct row {
    uint64_t value;
    const char *cell;
};

static void check_rows(const struct row *rows, size_t count,
                       void (*format)(uint64_t value, char *text, size_t size))
{
    char text[COLUMNS_CELL];

    for (size_t i = 0; i < count; i++) {
        format(rows[i].value, text, sizeof text);
        CU_ASSERT_STRING_EQUAL(text, rows[i].cell);
    }
}

static void test_count_has_a_unit_where_it_does_not_fit(void)
{
    static const struct row rows[] = {
        { 0, "0" },
        { 99999, "99999" },
        { 100000, "100k" },
        { 999999, "999k" },
        { 1000000, "1.00M" },
        { 1239999, "1.23M" },
        { 9999999, "9.99M" },
        { 10000000, "10.0M" },
        { 99999999, "99.9M" },
        { 100000000, "100M" },
        { 999999999, "999M" },
        { 1000000000, "1.00G" },
        { 18446744073709551615u, "18.4E" },
    };

    check_rows(rows, ROWS(rows), columns_count);
}

static void test_size_has_two_digits_and_a_unit(void)
{
    static const struct row rows[] = {
        { 0, "0B" },
        { 999, "999B" },
        { 1000, "0.9KiB" },
        { 1024, "1.0KiB" },
        { 10239, "9.9KiB" },
        { 10240, "10KiB" },
        { 999 * 1024 + 1023, "999KiB" },
        { 1000 * 1024, "0.9MiB" },
        { 1572864, "1.5MiB" },
        { 769654784, "734MiB" },
        { 18446744073709551615u, "15EiB" },
    };

    check_rows(rows, ROWS(rows), columns_size);
}

static void test_age_has_its_two_largest_units(void)
{
    static const struct row rows[] = {
        { 0, "0ms" },          { 999, "999ms" },         { 1000, "1.0s" },
        { 12345, "12.3s" },    { 59999, "59.9s" },       { 60000, "1m00s" },
        { 3599999, "59m59s" }, { 3600000, "1h00m" },     { 86399999, "23h59m" },
        { 86400000, "1d00h" }, { 8639999999, "99d23h" }, { 8640000000, "100d" },
    };

    check_rows(rows, ROWS(rows), columns_age);
}

static void test_every_value_keeps_to_its_column(void)
{
    char text[COLUMNS_CELL];

    for (int bit = 0; bit < 64; bit++) {
        for (int off = -1; off <= 1; off++) {
            uint64_t value = ((uint64_t)1 << bit) + (uint64_t)off;

            columns_count(value, text, sizeof text);
            CU_ASSERT(strlen(text) <= 5);
            columns_size(value, text, sizeof text);
            CU_ASSERT(strlen(text) <= 6);
        }
    }
    for (uint64_t value = 1; value > 0 && value < 10000000000000000000u; value *= 10) {
        columns_count(value - 1, text, sizeof text);
        CU_ASSERT(strlen(text) <= 5);
        columns_size(value - 1, text, sizeof text);
        CU_ASSERT(strlen(text) <= 6);
        columns_age(value < 8640000000000 ? value - 1 : 0, text, sizeof text);
        CU_ASSERT(strlen(text) <= 6);
    }
}

static void test_name_is_cut_in_its_middle(void)
{
    static const struct {
        const char *text;
        size_t width;
        const char *cell;
    } rows[] = {
        { "work", 4, "work" },         { "", 4, "" },
        { "works", 4, "w…ks" },        { "ingest/images/left#12", 12, "inges…eft#12" },
        { "größe/größe", 5, "gr…ße" }, { "work", 1, "…" },
    };
    char cell[64];

    for (size_t i = 0; i < ROWS(rows); i++) {
        columns_cut(rows[i].text, rows[i].width, cell, sizeof cell);
        CU_ASSERT_STRING_EQUAL(cell, rows[i].cell);
        CU_ASSERT(columns_width(cell) <= rows[i].width);
    }
}

/* `…` may stand anywhere: no line is wider than a page, and no word of the text is lost. */
static void check_fold(const char *text)
{
    char *folded = NULL, *rest = NULL;
    size_t size = 0, at = 0;
    FILE *stream = open_memstream(&folded, &size);

    CU_ASSERT_PTR_NOT_NULL_FATAL(stream);
    columns_fold(text, stream);
    (void)fclose(stream);
    for (char *line = strtok_r(folded, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        CU_ASSERT(columns_width(line) <= COLUMNS_PAGE);
        for (; *line; line++) {
            if (*line == ' ')
                continue;
            at += strspn(text + at, " \n");
            CU_ASSERT_EQUAL(text[at], *line);
            at += text[at] != '\0';
        }
    }
    at += strspn(text + at, " \n");
    CU_ASSERT_EQUAL(text[at], '\0');
    free(folded);
}

static void test_lines_keep_to_a_page(void)
{
    char word[450];

    check_fold("");
    check_fold("short\n\n  also short\nno end");
    check_fold("one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
               "fifteen sixteen seventeen eighteen nineteen twenty, and so on until it is too wide "
               "for two pages beside each other, which is 200 columns and some more\nnext\n");
    memset(word, 'x', sizeof word);
    word[sizeof word - 1] = '\0';
    check_fold(word);
    word[30] = ' ';
    check_fold(word);
    word[100] = ' ';
    check_fold(word);
    for (size_t i = 0; i + 2 < sizeof word; i += 2)
        memcpy(word + i, "ö", 2);
    check_fold(word);
}

static void test_word_fits_its_number(void)
{
    CU_ASSERT_STRING_EQUAL(plural(0, "worker", "workers"), "workers");
    CU_ASSERT_STRING_EQUAL(plural(1, "worker", "workers"), "worker");
    CU_ASSERT_STRING_EQUAL(plural(2, "worker", "workers"), "workers");
    CU_ASSERT_STRING_EQUAL(plural(UINT64_MAX, "worker", "workers"), "workers");
}

int main(void)
{
    static CU_TestInfo tests[] = {
        { "count", test_count_has_a_unit_where_it_does_not_fit },
        { "size", test_size_has_two_digits_and_a_unit },
        { "age", test_age_has_its_two_largest_units },
        { "widths", test_every_value_keeps_to_its_column },
        { "cut", test_name_is_cut_in_its_middle },
        { "fold", test_lines_keep_to_a_page },
        { "plural", test_word_fits_its_number },
        CU_TEST_INFO_NULL,
    };

    return suite_run("columns", tests);
}
