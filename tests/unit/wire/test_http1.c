/* SPDX-License-Identifier: MIT */
/*
 * Goal:   requests are read as RFC 9110 and RFC 9112 say, and what these refuse is refused; the way
 *         in which the bytes are cut changes nothing.
 * Method: each row of http1_table.c whole, in single bytes, and cut at each of its bytes into two
 *         and, with one byte in the middle, into three. Larger texts are made here.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit/host/suite.h"
#include "unit/wire/http1_outcome.h"
#include "unit/wire/http1_plain.h"
#include "unit/wire/http1_table.h"
#include "wire/http1_body.h"
#include "wire/http1_head.h"

#define LARGE 70000u

static bool cuts_nowhere(const void *context, size_t at)
{
    (void)context;
    (void)at;
    return false;
}

static bool cuts_everywhere(const void *context, size_t at)
{
    (void)context;
    (void)at;
    return true;
}

static bool cuts_once(const void *context, size_t at)
{
    return at == *(const size_t *)context;
}

static bool cuts_twice(const void *context, size_t at)
{
    return at - 1 == *(const size_t *)context || cuts_once(context, at);
}

static bool has_outcome(const struct http1_row *row, struct http1_cuts cuts)
{
    char *outcome = http1_outcome(row->request, row->size, HTTP1_TABLE_TARGET_MAX,
                                  HTTP1_TABLE_HEAD_MAX, cuts);
    bool is_right = strcmp(outcome, row->outcome) == 0;

    if (!is_right)
        (void)printf("\nRFC %s: %s\n  is %s, not %s\n", row->section, row->request, outcome,
                     row->outcome);
    free(outcome);
    return is_right;
}

static void test_request_of_the_table_has_its_outcome(void)
{
    for (size_t i = 0; i < http1_table_count; i++)
        CU_ASSERT_TRUE(has_outcome(&http1_table[i], (struct http1_cuts){ cuts_nowhere, NULL }));
}

static void test_request_in_any_pieces_has_the_same_outcome(void)
{
    for (size_t i = 0; i < http1_table_count; i++) {
        const struct http1_row *row = &http1_table[i];
        bool is_right = has_outcome(row, (struct http1_cuts){ cuts_everywhere, NULL });

        for (size_t at = 1; at < row->size && is_right; at++)
            is_right = has_outcome(row, (struct http1_cuts){ cuts_once, &at }) &&
                       has_outcome(row, (struct http1_cuts){ cuts_twice, &at });
        CU_ASSERT_TRUE(is_right);
    }
}

/* The reader that the fuzzer compares with is right, too. */
static void test_second_reader_has_the_outcomes_of_the_table(void)
{
    for (size_t i = 0; i < http1_table_count; i++) {
        const struct http1_row *row = &http1_table[i];
        char *plain = http1_plain_outcome(row->request, row->size, HTTP1_TABLE_TARGET_MAX,
                                          HTTP1_TABLE_HEAD_MAX);

        if (!http1_plain_agrees(plain, row->outcome))
            (void)printf("\nRFC %s: %s\n  is %s, not %s\n", row->section, row->request, plain,
                         row->outcome);
        CU_ASSERT_TRUE(http1_plain_agrees(plain, row->outcome));
        free(plain);
    }
}

static void test_table_has_enough_of_each_outcome(void)
{
    size_t accepted = 0;

    for (size_t i = 0; i < http1_table_count; i++)
        accepted += strchr(http1_table[i].outcome, '@') != NULL;
    CU_ASSERT_TRUE(http1_table_count >= 150);
    CU_ASSERT_TRUE(accepted >= 50);
}

/* `before`, then `size` bytes of `middle`, then `after`. */
static char *text_of(const char *before, char middle, size_t size, const char *after)
{
    size_t head = strlen(before);
    char *text = malloc(head + size + strlen(after) + 1);

    if (!text)
        abort();
    memcpy(text, before, head);
    memset(text + head, middle, size);
    memcpy(text + head + size, after, strlen(after) + 1);
    return text;
}

static void expect_large(const char *before, char middle, size_t size, const char *after,
                         const char *wanted)
{
    char *text = text_of(before, middle, size, after);
    char *outcome = http1_outcome(text, strlen(text), LARGE, LARGE,
                                  (struct http1_cuts){ cuts_nowhere, NULL });

    CU_ASSERT_STRING_EQUAL(outcome, wanted);
    free(outcome);
    free(text);
}

#define CHUNKED "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"

static void test_sizes_beyond_their_bounds_are_refused(void)
{
    static const char chunk[] = CHUNKED "1;";
    static const char trailer[] = CHUNKED "0\r\n";

    expect_large("GET /", 'x', LARGE, "", "414");
    expect_large("GET / HTTP/1.1\r\nHost: h\r\nA: ", 'x', LARGE, "\r\n\r\n", "431");
    expect_large("GET / HTTP/1.1\r\nHost: h\r\nA: ", 'x', LARGE - 100, "\r\n\r\n", "GET / @h");
    expect_large(chunk, 'x', HTTP1_EXTRAS_MAX, "\r\na\r\n0\r\n\r\n", "413");
    expect_large(chunk, 'x', HTTP1_EXTRAS_MAX - 1, "\r\na\r\n0\r\n\r\n", "POST / @h =a");
    expect_large(trailer, 'x', HTTP1_EXTRAS_MAX + 1, ":\r\n\r\n", "431");
    expect_large(trailer, 'x', HTTP1_EXTRAS_MAX - 10, ":\r\n\r\n", "POST / @h");
    expect_large(CHUNKED, '0', 17, "\r\n\r\n", "413");
}

/* The work for each byte does not grow with those before it: the reader looks at none twice. */
static void test_head_in_single_bytes_is_read_on_from_where_it_was(void)
{
    char *text = text_of("GET /", 'x', LARGE, " HTTP/1.1\r\nHost: h\r\n\r\n");
    struct http1_head head;
    size_t size = strlen(text);

    http1_request_init(&head, 2 * LARGE, 2 * LARGE);
    for (size_t i = 1; i <= size; i++) {
        char before = text[i - 1];

        CU_ASSERT_EQUAL_FATAL(http1_head_read(&head, text, i), i < size ? HTTP1_MORE : HTTP1_DONE);
        if (before == 'x')
            text[i - 1] = '\n'; /* it would be refused */
    }
    CU_ASSERT_EQUAL(head.target.size, LARGE + 1);
    free(text);
}

static void test_fields_are_found_by_name_and_word(void)
{
    static const char text[] = "GET / HTTP/1.1\r\nHost: h\r\nA-b:  c , D\r\nE:\r\n\r\n";
    struct http1_head head;

    http1_request_init(&head, 100, 100);
    CU_ASSERT_EQUAL_FATAL(http1_head_read(&head, text, sizeof text - 1), HTTP1_DONE);
    CU_ASSERT_EQUAL_FATAL(head.field_count, 3);
    CU_ASSERT_TRUE(http1_is_named(&head.fields[1], text, "a-B"));
    CU_ASSERT_FALSE(http1_is_named(&head.fields[1], text, "a-"));
    CU_ASSERT_EQUAL(head.fields[1].value.size, 5);
    CU_ASSERT_TRUE(http1_lists(&head.fields[1], text, "C"));
    CU_ASSERT_TRUE(http1_lists(&head.fields[1], text, "d"));
    CU_ASSERT_FALSE(http1_lists(&head.fields[1], text, "c , d"));
    CU_ASSERT_EQUAL(head.fields[2].value.size, 0);
    CU_ASSERT_FALSE(http1_lists(&head.fields[2], text, "e"));
}

static enum http1_result read_answer(struct http1_head *head, const char *text)
{
    enum http1_result result = HTTP1_MORE;

    http1_answer_init(head, 200);
    for (size_t i = 1; i <= strlen(text) && result == HTTP1_MORE; i++)
        result = http1_head_read(head, text, i);
    return result;
}

static void test_answers_are_read_by_the_same_rules(void)
{
    static const char *const refused[] = {
        "HTTP/1.1 20 OK\r\n\r\n",  "HTTP/1.1 2000 OK\r\n\r\n", "HTTP/1.1 OK\r\n\r\n",
        "HTTP/2.0 200 OK\r\n\r\n", "HTTP/1.1 200 OK\n\r\n",    "HTTP/1.1 200 O\x01K\r\n\r\n",
        "GET / HTTP/1.1\r\n\r\n",  "HTTP/1.1  200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nA : b\r\n\r\n",
    };
    struct http1_head head;

    CU_ASSERT_EQUAL(read_answer(&head, "HTTP/1.1 503 No \xc3\xa4\r\nContent-Length: 7\r\n\r\n"),
                    HTTP1_DONE);
    CU_ASSERT_EQUAL(head.status, 503);
    CU_ASSERT_EQUAL(head.length, 7);
    CU_ASSERT_EQUAL(read_answer(&head, "HTTP/1.0 200\r\nContent-Length: 0\r\n\r\n"), HTTP1_DONE);
    CU_ASSERT_EQUAL(head.status, 200);
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        CU_ASSERT_TRUE(read_answer(&head, refused[i]) > HTTP1_DONE);
}

static void test_refusals_have_a_status_and_words(void)
{
    CU_ASSERT_EQUAL(http1_status(HTTP1_MORE), 0);
    CU_ASSERT_STRING_EQUAL(http1_words(HTTP1_DONE), "");
    for (unsigned i = HTTP1_DONE + 1; i <= HTTP1_TRAILERS; i++) {
        CU_ASSERT_TRUE(http1_status((enum http1_result)i) >= 400);
        CU_ASSERT_TRUE(strlen(http1_words((enum http1_result)i)) > 0);
    }
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "table", test_request_of_the_table_has_its_outcome },
        { "pieces", test_request_in_any_pieces_has_the_same_outcome },
        { "second reader", test_second_reader_has_the_outcomes_of_the_table },
        { "rows", test_table_has_enough_of_each_outcome },
        { "bounds", test_sizes_beyond_their_bounds_are_refused },
        { "single bytes", test_head_in_single_bytes_is_read_on_from_where_it_was },
        { "fields", test_fields_are_found_by_name_and_word },
        { "answers", test_answers_are_read_by_the_same_rules },
        { "refusals", test_refusals_have_a_status_and_words },
        CU_TEST_INFO_NULL,
    };

    return suite_run("http1", tests);
}
