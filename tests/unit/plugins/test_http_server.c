/* SPDX-License-Identifier: MIT */
/*
 * Goal:   http.server answers each end of a request with its status, hands a request over whole,
 *         cancels what nobody waits for, and answers before it ends.
 * Method: the kit is the host and the pool; the clients are sockets of the test, at a Unix socket
 *         in a folder of its own. The test polls until a condition holds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <weir/testkit.h>

#include "../../../plugins/http/http.h"
#include "../../../plugins/http/listener.h"
#include "../host/suite.h"
#include "http_site.h"

extern const struct weir_plugin weir_plugin_v1;

static void test_request_reaches_the_pool_whole(void)
{
    static const char wanted[] = "POST /p\ncontent-type: text/plain\n\nabc";
    struct weir_kit *kit = site_serve("headers: [X-One]");
    int client = site_client(GET);
    const struct weir_kit_sent *first = site_sent(kit, 1);
    struct http_parts parts = { 0 };
    size_t size = 0;

    CU_ASSERT_EQUAL(first->way, WEIR_KIT_REQUEST);
    CU_ASSERT_EQUAL(first->to, WEIR_KIT_TARGET);
    CU_ASSERT_STRING_EQUAL(first->message->tag->name, HTTP_REQUEST_TAG);
    CU_ASSERT_EQUAL(first->message->key, weir_key("/a%2fb", 6));
    CU_ASSERT_TRUE_FATAL(http_parts_read(first->message->data, first->message->size, &parts));
    CU_ASSERT_TRUE(site_begins(parts.line, "GET /a%2fb?c=d\n"));
    CU_ASSERT_TRUE(site_begins(http_parts_header(&parts, "X-One", &size), "1"));
    CU_ASSERT_EQUAL(size, 1);
    CU_ASSERT_PTR_NULL(http_parts_header(&parts, "x-two", &size));
    CU_ASSERT_EQUAL(parts.body_size, 0);
    CU_ASSERT_EQUAL(weir_kit_answer(kit, first->reference, 0, "any/1", "yes", 3), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(site_answer(kit, client), "\r\n\r\nyes"));
    client = site_client(POST);
    CU_ASSERT_EQUAL_FATAL(site_sent(kit, 2)->message->size, sizeof wanted - 1);
    CU_ASSERT_EQUAL(memcmp(site_sent(kit, 2)->message->data, wanted, sizeof wanted - 1), 0);
    CU_ASSERT_EQUAL(
        weir_kit_answer(kit, site_sent(kit, 2)->reference, WEIR_ENOREPLY, NULL, NULL, 0), 0);
    CU_ASSERT_TRUE(site_begins(site_answer(kit, client), "HTTP/1.1 204 "));
    site_finish(kit);
}

/* RFC 9112, 3.2.2: the host of the target counts, and a Host beside it does not. */
static void test_host_of_the_target_is_that_of_the_request(void)
{
    static const struct {
        const char *request, *message;
    } rows[] = {
        { "GET / HTTP/1.1\r\nHost: a.b:81\r\n\r\n", "GET /\nhost: a.b:81\n\n" },
        { "GET http://a.b/c HTTP/1.1\r\nHost: other\r\n\r\n", "GET /c\nhost: a.b\n\n" },
        { "GET http://a.b/c HTTP/1.0\r\n\r\n", "GET /c\nhost: a.b\n\n" },
        { "GET / HTTP/1.1\r\nHost:\r\n\r\n", "GET /\nhost: \n\n" },
        { "GET / HTTP/1.0\r\n\r\n", "GET /\n\n" },
    };
    struct weir_kit *kit = site_serve("headers: [Host]");

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int client = site_client(rows[i].request);
        const struct weir_message *message = site_sent(kit, i + 1)->message;

        CU_ASSERT_EQUAL_FATAL(message->size, strlen(rows[i].message));
        CU_ASSERT_EQUAL(memcmp(message->data, rows[i].message, message->size), 0);
        (void)close(client);
    }
    site_finish(kit);
}

static void expect_status(int status, const char *line)
{
    struct weir_kit *kit = site_serve("");
    int client = site_client(POST);

    CU_ASSERT_EQUAL(weir_kit_answer(kit, site_sent(kit, 1)->reference, status, NULL, NULL, 0), 0);
    CU_ASSERT_TRUE(site_begins(site_answer(kit, client), line));
    site_finish(kit);
}

static void test_each_end_of_a_request_has_its_status(void)
{
    expect_status(WEIR_ENOREPLY, "HTTP/1.1 204 ");
    expect_status(WEIR_EREJECTED, "HTTP/1.1 422 ");
    expect_status(WEIR_ECRASHED, "HTTP/1.1 502 ");
    expect_status(WEIR_EREMOVED, "HTTP/1.1 502 ");
    expect_status(WEIR_ETIMEOUT, "HTTP/1.1 504 ");
    expect_status(WEIR_ECLOSED, "HTTP/1.1 503 ");
}

/* promise B16 */
static void test_full_pool_is_503_with_retry_after(void)
{
    struct weir_kit *kit = site_serve("retry_after: 7s");
    int client;
    const char *answer;

    weir_kit_limit(kit, 0, WEIR_EFULL);
    client = site_client(POST);
    answer = site_answer(kit, client);
    CU_ASSERT_TRUE(site_begins(answer, "HTTP/1.1 503 "));
    CU_ASSERT_PTR_NOT_NULL(strstr(answer, "\r\nRetry-After: 7\r\n"));
    CU_ASSERT_EQUAL(weir_kit_sent_count(kit), 0);
    site_finish(kit);
}

static void test_worker_may_set_status_and_headers(void)
{
    static const char reply[] = "404\nX-Why: gone\nContent-Length: 99\n\nnothing";
    struct weir_kit *kit = site_serve("");
    int client = site_client(GET);
    const char *answer;

    CU_ASSERT_EQUAL(weir_kit_answer(kit, site_sent(kit, 1)->reference, 0, HTTP_RESPONSE_TAG, reply,
                                    sizeof reply - 1),
                    0);
    answer = site_answer(kit, client);
    CU_ASSERT_TRUE(site_begins(answer, "HTTP/1.1 404 "));
    CU_ASSERT_PTR_NOT_NULL(strstr(answer, "\r\nX-Why: gone\r\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(answer, "\r\nContent-Length: 7\r\n"));
    client = site_client(GET);
    CU_ASSERT_EQUAL(
        weir_kit_answer(kit, site_sent(kit, 2)->reference, 0, HTTP_RESPONSE_TAG, "ok\n\n", 4), 0);
    CU_ASSERT_TRUE(site_begins(site_answer(kit, client), "HTTP/1.1 502 "));
    site_finish(kit);
}

static void test_client_that_leaves_cancels_its_request(void)
{
    struct weir_kit *kit = site_serve("");
    int client = site_client(GET);

    (void)site_sent(kit, 1);
    (void)close(client);
    while (weir_kit_open_request_count(kit) > 0)
        site_run(kit);
    weir_kit_advance(kit, 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(weir_kit_inspect(kit, NULL), "cancelled=1\n"));
    site_finish(kit);
}

/* The client's end may be known before its request is. */
static void test_client_that_leaves_with_its_request_cancels_it(void)
{
    struct weir_kit *kit = site_serve("");
    int client = site_client(GET);

    CU_ASSERT_EQUAL(shutdown(client, SHUT_WR), 0);
    while (!strstr(weir_kit_inspect(kit, NULL), "cancelled=1\n"))
        site_run(kit);
    weir_kit_advance(kit, 1);
    CU_ASSERT_STRING_EQUAL(site_answer(kit, client), "");
    site_finish(kit);
}

/* A client that leaves between two requests cancels nothing. */
static void test_client_that_leaves_after_its_answer_cancels_nothing(void)
{
    struct weir_kit *kit = site_serve("");
    int client = site_client(GET);

    site_answer_and_keep(kit, client, 1);
    (void)close(client);
    while (!strstr(weir_kit_inspect(kit, NULL), "connections=0\n"))
        site_run(kit);
    CU_ASSERT_PTR_NOT_NULL(strstr(weir_kit_inspect(kit, NULL), "cancelled=0\n"));
    site_finish(kit);
}

static void test_half_request_expires(void)
{
    struct weir_kit *kit = site_serve("idle: 10s\nreceive: 2s");
    int client = site_client("POST /p HTTP/1.1\r\nHost: weir\r\nContent-Length: 9\r\n\r\nabc");

    while (!strstr(weir_kit_inspect(kit, NULL), "body_bytes=4096\n"))
        site_run(kit);
    weir_kit_advance(kit, 1500);
    CU_ASSERT_PTR_NOT_NULL(strstr(weir_kit_inspect(kit, NULL), "expired=0\n"));
    weir_kit_advance(kit, 1000);
    CU_ASSERT_TRUE(site_begins(site_answer(kit, client), "HTTP/1.1 408 "));
    CU_ASSERT_PTR_NOT_NULL(strstr(weir_kit_inspect(kit, NULL), "body_bytes=0\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(weir_kit_inspect(kit, NULL), "expired=1\n"));
    site_finish(kit);
}

/* The one request has all the room; the others' bodies come when both have been let in. */
static void test_bodies_without_room_are_answered_503(void)
{
    struct weir_kit *kit = site_serve("bodies_max: 4KiB");
    int first = site_client("POST /p HTTP/1.1\r\nHost: weir\r\nContent-Length: 9\r\n\r\n");
    int second = site_client("POST /p HTTP/1.1\r\nHost: weir\r\nContent-Length: 9\r\n\r\n");
    int third = site_client("POST /p HTTP/1.1\r\nHost: weir\r\nTransfer-Encoding: chunked\r\n\r\n");
    const char *answer;

    while (!strstr(weir_kit_inspect(kit, NULL), "connections=3\n"))
        site_run(kit);
    CU_ASSERT_EQUAL(send(first, "abc", 3, 0), 3);
    while (!strstr(weir_kit_inspect(kit, NULL), "body_bytes=4096\n"))
        site_run(kit);
    CU_ASSERT_EQUAL(send(second, "abcdefghi", 9, 0), 9);
    answer = site_answer(kit, second);
    CU_ASSERT_TRUE(site_begins(answer, "HTTP/1.1 503 "));
    CU_ASSERT_PTR_NOT_NULL(strstr(answer, "\r\nRetry-After: 1\r\n"));
    CU_ASSERT_EQUAL(send(third, "3\r\nabc\r\n0\r\n\r\n", 13, 0), 13);
    CU_ASSERT_TRUE(site_begins(site_answer(kit, third), "HTTP/1.1 503 "));
    CU_ASSERT_EQUAL(send(first, "defghi", 6, 0), 6);
    CU_ASSERT_EQUAL(site_sent(kit, 1)->message->size, sizeof "POST /p\n\nabcdefghi" - 1);
    CU_ASSERT_EQUAL(weir_kit_answer(kit, site_sent(kit, 1)->reference, 0, "any/1", "yes", 3), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(site_answer(kit, first), "\r\n\r\nyes"));
    CU_ASSERT_PTR_NOT_NULL(strstr(weir_kit_inspect(kit, NULL), "body_bytes=0\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(weir_kit_inspect(kit, NULL), "received=3\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(weir_kit_inspect(kit, NULL), "refused=2\n"));
    site_finish(kit);
}

static void test_idle_connection_at_the_limit_stays_until_another_one_waits(void)
{
    struct weir_kit *kit = site_serve("connections: 1\nidle: 60s");
    int client = site_client(GET);
    int other;

    site_answer_and_keep(kit, client, 1);
    CU_ASSERT_EQUAL(send(client, GET, strlen(GET), 0), (ssize_t)strlen(GET));
    site_answer_and_keep(kit, client, 2);
    weir_kit_advance(kit, 1000);
    CU_ASSERT_PTR_NOT_NULL(strstr(weir_kit_inspect(kit, NULL), "crowded_out=0\n"));
    other = site_client(GET);
    while (weir_kit_sent_count(kit) < 3) {
        site_run(kit);
        weir_kit_advance(kit, 0);
    }
    CU_ASSERT_PTR_NOT_NULL(strstr(weir_kit_inspect(kit, NULL), "crowded_out=1\n"));
    site_answer_and_keep(kit, other, 3);
    CU_ASSERT_STRING_EQUAL(site_answer(kit, client), "");
    (void)close(other);
    site_finish(kit);
}

/* promise B16 */
static void test_source_that_leaves_answers_first(void)
{
    struct weir_kit *kit = site_serve("");
    int client = site_client(GET);
    const struct weir_kit_sent *request = site_sent(kit, 1);
    const char *answer;

    CU_ASSERT_EQUAL(weir_kit_leave(kit), WEIR_WAIT);
    CU_ASSERT_EQUAL(weir_kit_answer(kit, request->reference, 0, "any/1", "yes", 3), 0);
    answer = site_answer(kit, client);
    CU_ASSERT_PTR_NOT_NULL(strstr(answer, "\r\nConnection: close\r\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(answer, "\r\n\r\nyes"));
    while (weir_kit_leave(kit) == WEIR_WAIT)
        (void)weir_kit_poll(kit);
    site_finish(kit);
}

static void test_source_that_must_end_answers_503(void)
{
    struct weir_kit *kit = site_serve("");
    int client = site_client(GET);

    (void)site_sent(kit, 1);
    weir_kit_close(kit, WEIR_END_SHUTDOWN);
    CU_ASSERT_TRUE(site_begins(site_answer(kit, client), "HTTP/1.1 503 "));
    site_finish(kit);
}

static void test_head_options_and_continue_work(void)
{
    struct weir_kit *kit = site_serve("");
    int client = site_client("HEAD / HTTP/1.1\r\nHost: weir\r\n\r\n");
    const char *answer;

    CU_ASSERT_EQUAL(weir_kit_answer(kit, site_sent(kit, 1)->reference, 0, "any/1", "yes", 3), 0);
    answer = site_hear(kit, client, "\r\n\r\n");
    CU_ASSERT_PTR_NOT_NULL(strstr(answer, "\r\nContent-Length: 3\r\n"));
    CU_ASSERT_PTR_NULL(strstr(answer, "yes"));
    CU_ASSERT_TRUE(send(client, "OPTIONS * HTTP/1.1\r\nHost: weir\r\n\r\n", 35, 0) == 35);
    CU_ASSERT_TRUE(site_begins(site_hear(kit, client, "ok\n"), "HTTP/1.1 200 OK\r\n"));
    (void)close(client);
    client = site_client("POST /p HTTP/1.1\r\nHost: weir\r\nExpect: 100-continue\r\n"
                         "Content-Length: 3\r\n\r\n");
    CU_ASSERT_STRING_EQUAL(site_hear(kit, client, "\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
    CU_ASSERT_EQUAL(send(client, "abc", 3, 0), 3);
    CU_ASSERT_EQUAL(weir_kit_answer(kit, site_sent(kit, 2)->reference, 0, "any/1", "yes", 3), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(site_answer(kit, client), "\r\n\r\nyes"));
    site_finish(kit);
}

static void test_pipelined_requests_are_answered_in_order(void)
{
    struct weir_kit *kit = site_serve("");
    int client = site_client(POST GET);

    CU_ASSERT_EQUAL(weir_kit_sent_count(kit), 0);
    CU_ASSERT_EQUAL(weir_kit_answer(kit, site_sent(kit, 1)->reference, 0, "any/1", "one", 3), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(site_hear(kit, client, "one"), "HTTP/1.1 200 OK\r\n"));
    CU_ASSERT_EQUAL(weir_kit_answer(kit, site_sent(kit, 2)->reference, 0, "any/1", "two", 3), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(site_hear(kit, client, "two"), "HTTP/1.1 200 OK\r\n"));
    (void)close(client);
    site_finish(kit);
}

/* Its answer is not destroyed, and others are served. */
static void test_client_that_sends_on_behind_a_refusal_is_read(void)
{
    static char much[200000];
    struct weir_kit *kit = site_serve("");
    int client = site_client("nonsense\r\n\r\n"), other;
    size_t put = 0;
    ssize_t got;

    memset(much, 'x', sizeof much);
    while (put < 3000000) {
        got = send(client, much, sizeof much, MSG_NOSIGNAL | MSG_DONTWAIT);
        put += got > 0 ? (size_t)got : 0;
        site_run(kit);
    }
    other = site_client(GET);
    site_answer_and_keep(kit, other, 1);
    (void)close(other);
    (void)shutdown(client, SHUT_WR);
    CU_ASSERT_TRUE(site_begins(site_answer(kit, client), "HTTP/1.1 400 "));
    site_finish(kit);
}

static void test_wrong_headers_of_a_reply_are_left_out(void)
{
    static const char reply[] = "200\nX-A: b\nKeep-Alive: 1\nbad header: c\nX-B: d\x01\n\nyes";
    struct weir_kit *kit = site_serve("");
    int client = site_client(GET);
    char *large = calloc(1, 40000);
    const char *answer;

    CU_ASSERT_PTR_NOT_NULL_FATAL(large);
    CU_ASSERT_EQUAL(weir_kit_answer(kit, site_sent(kit, 1)->reference, 0, HTTP_RESPONSE_TAG, reply,
                                    sizeof reply - 1),
                    0);
    answer = site_answer(kit, client);
    CU_ASSERT_PTR_NOT_NULL(strstr(answer, "\r\nX-A: b\r\n"));
    CU_ASSERT_PTR_NULL(strstr(answer, "Keep-Alive"));
    CU_ASSERT_PTR_NULL(strstr(answer, "bad"));
    CU_ASSERT_PTR_NULL(strstr(answer, "X-B"));
    CU_ASSERT_TRUE(weir_kit_has_logged(kit, WEIR_LOG_WARNING, "is no header; it is left out"));
    memset(large, 'x', 39999);
    memcpy(large, "200\nX-A: ", 9);
    memcpy(large + 39990, "\n\nyes", 5);
    client = site_client(GET);
    CU_ASSERT_EQUAL(
        weir_kit_answer(kit, site_sent(kit, 2)->reference, 0, HTTP_RESPONSE_TAG, large, 39995), 0);
    CU_ASSERT_TRUE(site_begins(site_answer(kit, client), "HTTP/1.1 500 "));
    CU_ASSERT_TRUE(weir_kit_has_logged(kit, WEIR_LOG_WARNING, "too many headers"));
    free(large);
    site_finish(kit);
}

static void test_regular_file_is_no_address(void)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "server");
    const char *file;

    scratch_init(&site_scratch);
    file = scratch_write(&site_scratch, "file", "mine");
    CU_ASSERT_EQUAL(weir_kit_open_format(kit, "listen: \"unix:%s\"", file), WEIR_EINVALID);
    CU_ASSERT_EQUAL(access(file, F_OK), 0);
    site_finish(kit);
}

static void test_wrong_addresses_are_refused(void)
{
    static const char *const good[] = { "127.0.0.1:80", "[::1]:8080", "*:65535", "unix:/run/x" };
    static const char *const bad[] = { "",       "80",      "127.0.0.1", "127.0.0.1:0",
                                       "a:80",   "::1:80",  "*:65536",   "127.0.0.1:8x",
                                       "unix:x", "[::1:80", "*:-1",      ":80" };
    struct address address;

    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        CU_ASSERT_TRUE(listener_parse(good[i], &address));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CU_ASSERT_FALSE(listener_parse(bad[i], &address));
}

static void test_second_descriptor_shares_the_socket(void)
{
    struct weir_kit *kit = site_serve("");
    char text[160];
    struct address address;
    int second;

    (void)snprintf(text, sizeof text, "unix:%s", site_path);
    CU_ASSERT_TRUE(listener_parse(text, &address));
    second = listener_open(&address);
    CU_ASSERT_TRUE(second >= 0);
    weir_kit_close(kit, WEIR_END_SHUTDOWN);
    (void)close(site_client(GET)); /* it connects: the kernel keeps the socket */
    (void)close(second);
    site_finish(kit);
}

static void test_wrong_options_are_reported(void)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "server");

    CU_ASSERT_EQUAL(weir_kit_open_args(kit, "listen: nowhere\ncertificate: x\nhealth: h\n"
                                            "routes: {a: b}\ntoken: \"\"\n"
                                            "content_type: \"a\\r\\nX-Evil: 1\""),
                    WEIR_EINVALID);
    CU_ASSERT_PTR_NOT_NULL(strstr(weir_kit_mistakes(kit), "nowhere is no address"));
    CU_ASSERT_PTR_NOT_NULL(strstr(weir_kit_mistakes(kit), "certificate and key"));
    CU_ASSERT_PTR_NOT_NULL(strstr(weir_kit_mistakes(kit), "a: a path begins with /"));
    CU_ASSERT_PTR_NOT_NULL(strstr(weir_kit_mistakes(kit), "token"));
    CU_ASSERT_PTR_NOT_NULL(strstr(weir_kit_mistakes(kit), "content_type: is no value"));
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "whole", test_request_reaches_the_pool_whole },
        { "host", test_host_of_the_target_is_that_of_the_request },
        { "statuses", test_each_end_of_a_request_has_its_status },
        { "full", test_full_pool_is_503_with_retry_after },
        { "response", test_worker_may_set_status_and_headers },
        { "hangup", test_client_that_leaves_cancels_its_request },
        { "hangup before", test_client_that_leaves_with_its_request_cancels_it },
        { "hangup after", test_client_that_leaves_after_its_answer_cancels_nothing },
        { "half", test_half_request_expires },
        { "room", test_bodies_without_room_are_answered_503 },
        { "at the limit", test_idle_connection_at_the_limit_stays_until_another_one_waits },
        { "leaving", test_source_that_leaves_answers_first },
        { "closed", test_source_that_must_end_answers_503 },
        { "methods", test_head_options_and_continue_work },
        { "pipelined", test_pipelined_requests_are_answered_in_order },
        { "sends on", test_client_that_sends_on_behind_a_refusal_is_read },
        { "headers", test_wrong_headers_of_a_reply_are_left_out },
        { "file", test_regular_file_is_no_address },
        { "addresses", test_wrong_addresses_are_refused },
        { "shared", test_second_descriptor_shares_the_socket },
        { "options", test_wrong_options_are_reported },
        CU_TEST_INFO_NULL,
    };

    return suite_run("http server", tests);
}
