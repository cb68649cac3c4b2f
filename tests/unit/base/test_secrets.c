/* SPDX-License-Identifier: MIT */
/*
 * Goal: a text shows nothing of a value that came from a file.
 *
 * Method: texts that quote values whole, shortened, and several times. Shows promise C17.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/secrets.h"
#include "unit/host/suite.h"

#define KEY "hunter2-and-more-of-it"

static void check(const char *text, const char *shown, size_t size)
{
    struct secrets first = { .parts = NULL }, secrets = { .parts = NULL };
    char buffer[256];
    size_t length;

    CU_ASSERT_EQUAL(secrets_add(&first, KEY, strlen(KEY)), 0);
    CU_ASSERT_EQUAL(secrets_add(&first, KEY, strlen(KEY)), 0);
    CU_ASSERT_EQUAL(secrets_add(&first, "pass", 4), 0);
    CU_ASSERT_EQUAL(secrets_add(&first, "abc", 3), 0);
    CU_ASSERT_EQUAL(secrets_add_all(&secrets, &first), 0);
    secrets_finish(&first);
    (void)snprintf(buffer, sizeof buffer, "%s", text);
    length = secrets_hide(&secrets, buffer, strlen(buffer), size);
    CU_ASSERT_STRING_EQUAL(buffer, shown);
    CU_ASSERT_EQUAL(length, strlen(shown));
    secrets_finish(&secrets);
}

/* promise C17 */
static void test_values_and_long_parts_of_them_are_hidden(void)
{
    check("", "", 256);
    check("no such thing", "no such thing", 256);
    check("got \"" KEY "\"", "got \"${file:...}\"", 256);
    check(KEY KEY, "${file:...}${file:...}", 256);
    check("got \"hunter2-and-more...", "got \"${file:...}...", 256);
    check("it ends with and-more-of-it", "it ends with ${file:...}", 256);
    check("a hunter", "a hunter", 256); /* 6 bytes */
    check("pass and abc", "${file:...} and abc", 256);
    check("${file:...} pass", "${file:...} ${file:...}", 256);
}

/* promise C17: as both formats of the log quote it. */
static void test_value_is_hidden_in_quotes(void)
{
    static const char value[] = "a\"b\\c\nd, e", quoted[] = "line=\"a\\\"b\\\\c\\nd, e\"";
    struct secrets secrets = { .parts = NULL };
    char text[64];

    CU_ASSERT_EQUAL(secrets_add(&secrets, value, strlen(value)), 0);
    (void)snprintf(text, sizeof text, "%s", quoted);
    (void)secrets_hide(&secrets, text, strlen(text), sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "line=\"${file:...}\"");
    (void)snprintf(text, sizeof text, "%s", value);
    (void)secrets_hide(&secrets, text, strlen(text), sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "${file:...}");
    secrets_finish(&secrets);
}

/* promise C17 */
static void test_text_that_grows_is_cut_at_its_buffer(void)
{
    check("got pass, a word", "got ${file:...}, ", 18);
    check("got pass", "got ${file:", 12);
}

/* promise C17: a key of many kilobytes in a page of a megabyte. */
static void test_time_grows_with_the_text_alone(void)
{
    const size_t size = 1u << 20;
    struct secrets secrets = { .parts = NULL };
    char *text = malloc(size);
    uint32_t dice = 1;

    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    for (size_t i = 0; i < size; i++)
        text[i] = (char)('a' + ((dice = dice * 1664525u + 1013904223u) >> 28));
    CU_ASSERT_EQUAL(secrets_add(&secrets, text, 65536), 0);
    text[size - 1] = '\0';
    CU_ASSERT_TRUE(secrets_hide(&secrets, text, size - 1, size) < size - 65000);
    CU_ASSERT_EQUAL(strncmp(text, "${file:...}", 11), 0);
    secrets_finish(&secrets);
    free(text);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "hidden", test_values_and_long_parts_of_them_are_hidden },
        { "quoted", test_value_is_hidden_in_quotes },
        { "large", test_time_grows_with_the_text_alone },
        { "cut", test_text_that_grows_is_cut_at_its_buffer },
        CU_TEST_INFO_NULL,
    };

    return suite_run("base secrets", tests);
}
