/* SPDX-License-Identifier: MIT */
/*
 * Goal: a request is read the same whole or in pieces; requests that are too large, broken or
 * truncated are refused as such; paths and queries are unescaped.
 *
 * Method: texts of requests, given at once and byte by byte.
 */
#include "host/control/http.h"

#include <stdlib.h>
#include <string.h>

#include "unit/host/suite.h"

static enum http_progress read_text(struct http_reading *reading, const char *text, size_t piece)
{
    size_t size = strlen(text);
    enum http_progress progress = HTTP_MORE;

    http_reading_init(reading);
    for (size_t i = 0; i < size && progress == HTTP_MORE; i += piece)
        progress = http_read(reading, text + i, size - i < piece ? size - i : piece);
    return progress;
}

/* `count` times the same, between two others. */
static char *text_of(const char *before, const char *middle, size_t count, const char *after)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);

    fputs(before, stream);
    for (size_t i = 0; i < count; i++)
        fputs(middle, stream);
    fputs(after, stream);
    (void)fclose(stream);
    return text;
}

static void test_request_in_pieces_is_the_same_as_whole(void)
{
    static const char text[] = "GET /pools/images%2fsmall?size=12&x=a%20b HTTP/1.1\r\n"
                               "Host: weir\r\nX-A-Name-That-Is-Far-Too-Long: accept\r\n"
                               "aCCept: text/plain, */*\r\nOther: application/json\r\n\r\n";

    for (size_t piece = 1; piece <= sizeof text; piece++) {
        struct http_reading reading;
        struct http_request request;
        char value[16];

        CU_ASSERT_EQUAL(read_text(&reading, text, piece), HTTP_COMPLETE);
        CU_ASSERT_TRUE(http_take_request(&reading, &request));
        CU_ASSERT_FALSE(request.is_post);
        CU_ASSERT_TRUE(request.wants_text);
        CU_ASSERT_STRING_EQUAL(request.path, "pools/images/small");
        CU_ASSERT_STRING_EQUAL(http_query(&request, "size", value, sizeof value), "12");
        CU_ASSERT_STRING_EQUAL(http_query(&request, "x", value, sizeof value), "a b");
        CU_ASSERT_PTR_NULL(http_query(&request, "siz", value, sizeof value));
        CU_ASSERT_PTR_NULL(http_query(&request, "size", value, 2));
    }
}

static void test_post_with_a_body_is_complete_after_it(void)
{
    struct http_reading reading;
    struct http_request request;

    CU_ASSERT_EQUAL(
        read_text(&reading, "POST /reload HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nab", 7),
        HTTP_MORE);
    CU_ASSERT_EQUAL(http_read(&reading, "c", 1), HTTP_COMPLETE);
    CU_ASSERT_TRUE(http_take_request(&reading, &request));
    CU_ASSERT_TRUE(request.is_post);
    CU_ASSERT_FALSE(request.wants_text);
    CU_ASSERT_STRING_EQUAL(request.path, "reload");
    CU_ASSERT_PTR_NULL(request.query);
    CU_ASSERT_EQUAL(request.body_size, 3);
    CU_ASSERT_EQUAL(memcmp(request.body, "abc", 3), 0);
    http_reading_finish(&reading);
}

/* Bodies of the largest size, as they are and in chunks, are read in any pieces. */
static void test_large_body_is_read_to_its_bound(void)
{
    char *body = text_of("", "x", HTTP_BODY_MAX, "");
    char head[80];
    struct http_reading reading;
    struct http_request request;

    for (size_t piece = 1000; piece < 2 * HTTP_BODY_MAX; piece *= 40) {
        (void)snprintf(head, sizeof head,
                       "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: %u\r\n\r\n", HTTP_BODY_MAX);
        char *text = text_of(head, body, 1, "");

        CU_ASSERT_EQUAL(read_text(&reading, text, piece), HTTP_COMPLETE);
        CU_ASSERT_TRUE(http_take_request(&reading, &request));
        CU_ASSERT_EQUAL(request.body_size, HTTP_BODY_MAX);
        CU_ASSERT_EQUAL(memcmp(request.body, body, HTTP_BODY_MAX), 0);
        http_reading_finish(&reading);
        free(text);
        (void)snprintf(head, sizeof head,
                       "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n",
                       HTTP_BODY_MAX);
        text = text_of(head, body, 1, "\r\n1\r\nx\r\n0\r\n\r\n");
        CU_ASSERT_EQUAL(read_text(&reading, text, piece), HTTP_REFUSED);
        CU_ASSERT_EQUAL(reading.status, HTTP_STATUS_PAYLOAD_TOO_LARGE);
        http_reading_finish(&reading);
        free(text);
    }
    free(body);
}

static void test_broken_requests_are_wrong(void)
{
    static const char *const texts[] = {
        "hello\r\n\r\n",
        "GET status HTTP/1.1\r\nHost: h\r\n\r\n",
        "GET /status HTTP/1.1\r\n\r\n",
        "GET /status HTTP/1.1\nHost: h\n\n",
        "GET /pools/%zz HTTP/1.1\r\nHost: h\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na",
        "GET /status HTTP/9\r\n\r\n",
        "GET /status HTTP/1.1\r\nHost: h\r\nno colon\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: x\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
    };
    struct http_reading reading;

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        CU_ASSERT_EQUAL(read_text(&reading, texts[i], 1), HTTP_REFUSED);
        CU_ASSERT_TRUE(strlen(reading.problem) > 0);
    }
    CU_ASSERT_EQUAL(read_text(&reading, "GET /status HT", 1), HTTP_MORE);
    CU_ASSERT_EQUAL(http_read(&reading, NULL, 0), HTTP_REFUSED);
}

static void test_other_methods_and_escaped_nul_are_not_taken(void)
{
    static const struct {
        const char *text;
        unsigned status;
    } rows[] = {
        { "DELETE /status HTTP/1.1\r\nHost: h\r\n\r\n", HTTP_STATUS_METHOD_NOT_ALLOWED },
        { "OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n", HTTP_STATUS_METHOD_NOT_ALLOWED },
        { "get /status HTTP/1.1\r\nHost: h\r\n\r\n", HTTP_STATUS_METHOD_NOT_ALLOWED },
        { "GET /pools/a%00b HTTP/1.1\r\nHost: h\r\n\r\n", HTTP_STATUS_BAD_REQUEST },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct http_reading reading;
        struct http_request request;

        CU_ASSERT_EQUAL(read_text(&reading, rows[i].text, 3), HTTP_COMPLETE);
        CU_ASSERT_FALSE(http_take_request(&reading, &request));
        CU_ASSERT_EQUAL(reading.status, rows[i].status);
        CU_ASSERT_TRUE(strlen(reading.problem) > 0);
    }
}

static void test_target_with_a_host_has_the_same_parts(void)
{
    static const struct {
        const char *text, *path, *query;
    } rows[] = {
        { "GET http://weir/status?a=b HTTP/1.1\r\nHost: h\r\n\r\n", "status", "a=b" },
        { "GET http://weir HTTP/1.1\r\nHost: h\r\n\r\n", "", NULL },
        { "GET http://weir?a=b HTTP/1.1\r\nHost: h\r\n\r\n", "", "a=b" },
        { "GET /? HTTP/1.1\r\nHost: h\r\n\r\n", "", "" },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct http_reading reading;
        struct http_request request;

        CU_ASSERT_EQUAL(read_text(&reading, rows[i].text, 1), HTTP_COMPLETE);
        CU_ASSERT_TRUE_FATAL(http_take_request(&reading, &request));
        CU_ASSERT_STRING_EQUAL(request.path, rows[i].path);
        if (!rows[i].query)
            CU_ASSERT_PTR_NULL(request.query)
        else
            CU_ASSERT_STRING_EQUAL(request.query, rows[i].query);
    }
}

static void test_too_large_request_is_answered_before_its_end(void)
{
    char *target = text_of("GET /", "a", HTTP_TARGET_MAX, "");
    char *headers = text_of("GET / HTTP/1.1\r\nHost: h\r\n", "A: b\r\n", HTTP_REQUEST_MAX / 6, "");
    char *body = text_of("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1048577\r\n\r\n", "x", 1,
                         "");
    struct http_reading reading;

    CU_ASSERT_EQUAL(read_text(&reading, target, 100), HTTP_REFUSED);
    CU_ASSERT_EQUAL(reading.status, HTTP_STATUS_URI_TOO_LONG);
    CU_ASSERT_EQUAL(read_text(&reading, headers, 100), HTTP_REFUSED);
    CU_ASSERT_EQUAL(reading.status, HTTP_STATUS_HEADERS_TOO_LARGE);
    CU_ASSERT_EQUAL(read_text(&reading, body, 100), HTTP_REFUSED);
    CU_ASSERT_EQUAL(reading.status, HTTP_STATUS_PAYLOAD_TOO_LARGE);
    free(target);
    free(headers);
    free(body);
}

static void test_what_is_escaped_comes_back(void)
{
    static const char text[] = "a b/\x01\xff?&=%+\"~";
    char *escaped = NULL, *request_text;
    size_t size = 0;
    FILE *stream = open_memstream(&escaped, &size);
    struct http_reading reading;
    struct http_request request;

    http_write_escaped(stream, text);
    (void)fclose(stream);
    request_text = text_of("GET /", escaped, 1, " HTTP/1.1\r\nHost: h\r\n\r\n");
    CU_ASSERT_EQUAL(read_text(&reading, request_text, 1), HTTP_COMPLETE);
    CU_ASSERT_TRUE(http_take_request(&reading, &request));
    CU_ASSERT_STRING_EQUAL(request.path, text);
    free(escaped);
    free(request_text);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "pieces", test_request_in_pieces_is_the_same_as_whole },
        { "body", test_post_with_a_body_is_complete_after_it },
        { "large body", test_large_body_is_read_to_its_bound },
        { "broken", test_broken_requests_are_wrong },
        { "not ours", test_other_methods_and_escaped_nul_are_not_taken },
        { "with a host", test_target_with_a_host_has_the_same_parts },
        { "too large", test_too_large_request_is_answered_before_its_end },
        { "escaped", test_what_is_escaped_comes_back },
        CU_TEST_INFO_NULL,
    };

    return suite_run("http", tests);
}
