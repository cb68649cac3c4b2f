/* SPDX-License-Identifier: MIT */
/*
 * Goal:   http.client sends what its options say, gives the answer to the output or the requester,
 *         and settles each end of a fetch with its verdict.
 * Method: the kit is the host; the server is a socket of the test, which answers with given bytes.
 *         The test polls until a condition holds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../../../plugins/http/http.h"
#include "../../../plugins/http/statuses.h"
#include "../../../plugins/http/target.h"
#include "../host/suite.h"
#include "http_peer.h"

extern const struct weir_plugin weir_plugin_v1;

/* --- answers ---------------------------------------------------------------------------------- */

static void test_answer_goes_to_the_output(void)
{
    struct weir_kit *kit = peer_open("headers: {X-Who: me}\nuser_agent: tester");

    peer_hand_over(kit, "a b/\xc3\xa4");
    peer_serve(kit, PEER_OK);
    peer_settled(kit, WEIR_DONE, 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(peer_asked, "GET /a?b=a%20b%2F%C3%A4 HTTP/1.1\r\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(peer_asked, "\r\nX-Who: me\r\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(peer_asked, "\r\nUser-Agent: tester\r\n"));
    peer_expect_text(weir_kit_emitted(kit, 0, 0), HTTP_BODY_TAG, "yes");
    peer_hand_over(kit, "");
    peer_serve(kit, PEER_CHUNKED);
    peer_settled(kit, WEIR_DONE, 2);
    peer_expect_text(weir_kit_emitted(kit, 0, 1), HTTP_BODY_TAG, "yes");
    CU_ASSERT_PTR_NOT_NULL(strstr(weir_kit_inspect(kit, NULL), "answers_2xx=2\n"));
    CU_ASSERT_EQUAL(weir_kit_done(kit, "fetches"), 2);
    CU_ASSERT_EQUAL(weir_kit_done(kit, "bytes"), 6);
    peer_finish(kit);
}

static void test_requester_gets_the_answer(void)
{
    struct weir_kit *kit = peer_open("pass: response");

    CU_ASSERT_EQUAL(weir_kit_request(kit, "any/1", "x", 1), WEIR_KEEP);
    peer_serve(kit, PEER_OK);
    peer_settled(kit, WEIR_DONE, 1);
    peer_expect_text(weir_kit_replied(kit, 0), HTTP_RESPONSE_TAG, "200\nx-one: 1\n\nyes");
    CU_ASSERT_PTR_NULL(weir_kit_emitted(kit, 0, 0));
    peer_finish(kit);
}

static void test_payload_is_the_body(void)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "client");
    int client;

    peer_listen();
    CU_ASSERT_EQUAL_FATAL(weir_kit_open_format(kit,
                                               "url: \"http://127.0.0.1:%u/{key}\"\nmethod: PUT\n"
                                               "secret_headers: {authorization: Bearer x}",
                                               peer_port),
                          0);
    peer_hand_over(kit, "the payload");
    client = peer_accept(kit);
    peer_read_until(kit, client, "the payload");
    peer_answer(client, "HTTP/1.1 204 No Content\r\n\r\n");
    peer_settled(kit, WEIR_DONE, 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(peer_asked, "PUT /0 HTTP/1.1\r\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(peer_asked, "\r\nContent-Type: application/octet-stream\r\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(peer_asked, "\r\nauthorization: Bearer x\r\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(peer_asked, "\r\nContent-Length: 11\r\n"));
    peer_expect_text(weir_kit_emitted(kit, 0, 0), HTTP_BODY_TAG, "");
    peer_finish(kit);
}

/* --- verdicts --------------------------------------------------------------------------------- */

/* promise B17 */
static void test_each_end_has_its_verdict(void)
{
    peer_expect("", "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", WEIR_REJECT,
                "status 404");
    peer_expect("", "HTTP/1.1 301 Moved\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n", WEIR_REJECT,
                "status 301");
    peer_expect("", "HTTP/1.1 408 Late\r\nContent-Length: 0\r\n\r\n", WEIR_RETRY, "status 408");
    peer_expect("", "HTTP/1.1 500 Wrong\r\nContent-Length: 0\r\n\r\n", WEIR_RETRY, "status 500");
    peer_expect("retry: [error]", "HTTP/1.1 500 Wrong\r\nContent-Length: 0\r\n\r\n", WEIR_REJECT,
                "status 500");
    peer_expect("retry: [404]", "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", WEIR_RETRY,
                "status 404");
    peer_expect("", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", WEIR_RETRY,
                "Transferred a partial file");
    peer_expect("", "", WEIR_RETRY, "Server returned nothing (no headers, no data)");
    peer_expect("retry: [500]", "", WEIR_REJECT, "Server returned nothing (no headers, no data)");
    peer_expect("response_max: 2", PEER_OK, WEIR_REJECT, "more than response_max");
    peer_expect("response_max: 2", PEER_CHUNKED, WEIR_REJECT, "more than response_max");
}

static void test_headers_without_end_are_rejected(void)
{
    struct weir_kit *kit = peer_open("");
    char line[1024] = "X: ";
    int client;

    peer_hand_over(kit, "x");
    client = peer_accept(kit);
    peer_read_until(kit, client, "\r\n\r\n");
    memset(line + 3, 'x', sizeof line - 5);
    memcpy(line + sizeof line - 2, "\r\n", 2);
    (void)send(client, "HTTP/1.1 200 OK\r\n", 17, MSG_NOSIGNAL);
    while (weir_kit_kept_count(kit) > 0) {
        (void)send(client, line, sizeof line, MSG_NOSIGNAL);
        peer_turn(kit);
    }
    peer_settled(kit, WEIR_REJECT, 1);
    CU_ASSERT_STRING_EQUAL(weir_kit_reason(kit), "too many headers");
    (void)close(client);
    peer_finish(kit);
}

/* promise B17 */
static void test_retry_after_is_respected(void)
{
    struct weir_kit *kit = peer_open("backoff: 1s");

    peer_hand_over(kit, "x");
    peer_serve(kit, "HTTP/1.1 429 Slow\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n");
    peer_settled(kit, WEIR_RETRY, 1);
    CU_ASSERT_EQUAL(weir_kit_retry_ms(kit), 7000);
    peer_hand_over(kit, "x");
    peer_serve(kit, "HTTP/1.1 503 Full\r\nRetry-After: 301\r\nContent-Length: 0\r\n\r\n");
    peer_settled(kit, WEIR_REJECT, 1);
    CU_ASSERT_STRING_EQUAL(weir_kit_reason(kit), "Retry-After of 301 s");
    peer_finish(kit);
}

static void test_pauses_grow(void)
{
    struct weir_kit *kit = peer_open("backoff: 1s\nbackoff_max: 3s");
    static const uint64_t whole[] = { 1000, 2000, 3000, 3000 };

    for (uint16_t i = 0; i < 4; i++) {
        struct weir_message like = { .kind = WEIR_MESSAGE, .attempt = (uint16_t)(i + 1) };

        CU_ASSERT_EQUAL(weir_kit_deliver(kit, &like), WEIR_KEEP);
        peer_serve(kit, "HTTP/1.1 503 Full\r\nContent-Length: 0\r\n\r\n");
        peer_settled(kit, WEIR_RETRY, i + 1u);
        CU_ASSERT_TRUE(weir_kit_retry_ms(kit) >= whole[i] / 2);
        CU_ASSERT_TRUE(weir_kit_retry_ms(kit) <= whole[i]);
    }
    peer_finish(kit);
}

static void test_server_that_is_not_there(void)
{
    struct weir_kit *kit = peer_open("");

    (void)close(peer_listener);
    peer_hand_over(kit, "x");
    peer_settled(kit, WEIR_RETRY, 1);
    CU_ASSERT_STRING_EQUAL(weir_kit_reason(kit), "Couldn't connect to server");
    CU_ASSERT_PTR_NOT_NULL(strstr(weir_kit_inspect(kit, NULL), "no_answer=1\n"));
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_server_that_is_too_slow(void)
{
    struct weir_kit *kit = peer_open("timeout: 50ms\nretry: [error]");

    peer_hand_over(kit, "x");
    peer_settled(kit, WEIR_REJECT, 1);
    CU_ASSERT_STRING_EQUAL(weir_kit_reason(kit), "Timeout was reached");
    peer_drop_clients();
    peer_finish(kit);
}

/* --- redirects -------------------------------------------------------------------------------- */

#define MOVED "HTTP/1.1 302 Found\r\nLocation: %s\r\nContent-Length: 0\r\n\r\n"

static void move(struct weir_kit *kit, const char *to)
{
    char answer[256];

    (void)snprintf(answer, sizeof answer, MOVED, to);
    peer_serve(kit, answer);
}

static void test_redirects_are_followed_up_to_a_number(void)
{
    struct weir_kit *kit = peer_open("redirects: 1\nsecret_headers: {x-secret: hidden}");

    peer_hand_over(kit, "x");
    move(kit, "/b");
    peer_serve(kit, PEER_OK);
    peer_settled(kit, WEIR_DONE, 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(peer_asked, "GET /b HTTP/1.1\r\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(peer_asked, "\r\nx-secret: hidden\r\n"));
    peer_hand_over(kit, "x");
    move(kit, "/b");
    move(kit, "/c");
    peer_settled(kit, WEIR_REJECT, 1);
    CU_ASSERT_STRING_EQUAL(weir_kit_reason(kit), "Number of redirects hit maximum amount");
    peer_hand_over(kit, "x");
    move(kit, "file:///etc/passwd");
    peer_settled(kit, WEIR_REJECT, 2);
    peer_finish(kit);
}

/* promise B17: `localhost` is another host than 127.0.0.1. */
static void test_secrets_do_not_go_to_another_server(void)
{
    struct weir_kit *kit = peer_open(
        "redirects: 5\nsecret_headers: {x-secret: hidden}\ntimeout: 5s");
    char url[64];
    int client, other;

    peer_hand_over(kit, "x");
    (void)snprintf(url, sizeof url, "http://localhost:%u/", peer_port);
    move(kit, url);
    peer_settled(kit, WEIR_REJECT, 1);
    CU_ASSERT_PTR_NOT_NULL(
        strstr(weir_kit_reason(kit), "redirect to another server, with credentials"));
    client = accept4(peer_listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    other = client < 0 ? -1 : (int)recv(client, peer_asked, sizeof peer_asked, 0);
    CU_ASSERT_TRUE(other <= 0); /* connected at most, and nothing was sent */
    if (client >= 0)
        (void)close(client);
    peer_finish(kit);
}

/* --- trouble ---------------------------------------------------------------------------------- */

static void test_answer_waits_for_room_and_is_not_fetched_again(void)
{
    struct weir_kit *kit = peer_open("");

    weir_kit_limit(kit, 0, WEIR_EFULL);
    peer_hand_over(kit, "x");
    peer_serve(kit, PEER_OK);
    while (!strstr(weir_kit_inspect(kit, NULL), "answers_2xx=1\n"))
        peer_turn(kit);
    weir_kit_advance(kit, 1000);
    CU_ASSERT_EQUAL(weir_kit_kept_count(kit), 1);
    weir_kit_limit(kit, UINT32_MAX, 0);
    peer_settled(kit, WEIR_DONE, 1);
    peer_expect_text(weir_kit_emitted(kit, 0, 0), HTTP_BODY_TAG, "yes");
    CU_ASSERT_TRUE(accept4(peer_listener, NULL, NULL, SOCK_CLOEXEC) < 0);
    peer_finish(kit);
}

static void test_answer_that_nobody_wants_is_given_up(void)
{
    struct weir_kit *kit = peer_open("");
    char byte;
    int client;

    peer_hand_over(kit, "x");
    client = peer_accept(kit);
    peer_read_until(kit, client, "\r\n\r\n");
    weir_kit_wanted(kit, false);
    weir_kit_advance(kit, 1000);
    peer_settled(kit, WEIR_REJECT, 1);
    CU_ASSERT_EQUAL(recv(client, &byte, 1, 0), 0);
    (void)close(client);
    peer_finish(kit);
}

static void test_many_at_a_time(void)
{
    struct weir_kit *kit = peer_open("parallel: 3");
    int clients[3];

    CU_ASSERT_EQUAL(weir_kit_demand(kit), 3);
    for (int i = 0; i < 3; i++)
        peer_hand_over(kit, "x");
    for (int i = 0; i < 3; i++)
        clients[i] = peer_accept(kit);
    CU_ASSERT_EQUAL(weir_kit_kept_count(kit), 3);
    for (int i = 3; i-- > 0;) {
        peer_read_until(kit, clients[i], "\r\n\r\n");
        peer_answer(clients[i], PEER_OK);
    }
    peer_settled(kit, WEIR_DONE, 3);
    peer_finish(kit);
}

/* The host settles what a worker keeps that is closed. */
static void test_worker_may_be_closed_in_the_middle(void)
{
    struct weir_kit *kit = peer_open("");
    int client;

    peer_hand_over(kit, "x");
    peer_hand_over(kit, "y");
    client = peer_accept(kit);
    weir_kit_close(kit, WEIR_END_SHUTDOWN);
    (void)close(client);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 2); /* it kept two messages */
    (void)close(peer_listener);
}

/* Each call that needs memory fails once; the message is tried again, or done. */
static void test_memory_may_be_out(void)
{
    for (uint32_t nth = 1; nth < 8; nth++) {
        struct weir_kit *kit = peer_open("");
        int client, verdict;

        weir_kit_fail_allocation(kit, nth);
        verdict = weir_kit_handle(kit, "any/1", "x", 1);
        CU_ASSERT_TRUE(verdict == WEIR_KEEP || verdict == WEIR_RETRY);
        if (verdict == WEIR_KEEP) {
            while ((client = accept4(peer_listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) <
                   0) {
                weir_kit_advance(kit, 1000);
                (void)weir_kit_poll(kit);
            }
            peer_read_until(kit, client, "\r\n\r\n");
            peer_answer(client, PEER_OK);
            while (weir_kit_kept_count(kit) > 0) {
                weir_kit_advance(kit, 1000);
                (void)weir_kit_poll(kit);
            }
            CU_ASSERT_EQUAL(weir_kit_settled_count(kit, WEIR_DONE), 1);
        }
        peer_finish(kit);
    }
}

/* --- options ---------------------------------------------------------------------------------- */

static void expect_target(const char *template, const char *wanted)
{
    const char *refusal;
    char *url = target_create(template, "a/\"b", 4, 7, &refusal);

    CU_ASSERT_STRING_EQUAL(url, wanted);
    free(url);
}

static void test_templates_are_filled(void)
{
    expect_target("http://a/{payload}?{key}", "http://a/a%2F%22b?7");
    expect_target("http://a/{}{}", "http://a/a/\"ba/\"b");
    expect_target("http://a/{other}{", "http://a/{other}{");
    CU_ASSERT_TRUE(target_takes_payload("x{}"));
    CU_ASSERT_TRUE(target_takes_payload("x{payload}y"));
    CU_ASSERT_FALSE(target_takes_payload("x{key}"));
}

/* What the payload says about the server is no business of the template. */
static void test_template_may_begin_with_the_payload(void)
{
    const char *refusal;
    char *url = target_create("{}/x?{key}", "http://a", 8, 7, &refusal);

    CU_ASSERT_PTR_NOT_NULL_FATAL(url);
    CU_ASSERT_STRING_EQUAL(url, "http://a/x?7");
    free(url);
    CU_ASSERT_PTR_NULL(target_check("{}"));
    CU_ASSERT_PTR_NULL(target_check("{}/x"));
    CU_ASSERT_PTR_NOT_NULL(target_check("{payload}/x"));
    CU_ASSERT_PTR_NOT_NULL(target_check("http://{}/x"));
}

static void test_words_are_sets_of_statuses(void)
{
    static const char *const good[] = { "204", "4xx", "error", "timeout" };
    static const char *const bad[] = { "", "99", "600", "6xx", "0xx", "20", "2000", "2x", "ok" };
    struct statuses statuses;

    CU_ASSERT_PTR_NULL(statuses_read(&statuses, &(struct weir_list){ good, 4 }));
    CU_ASSERT_TRUE(statuses_have(&statuses, 204));
    CU_ASSERT_TRUE(statuses_have(&statuses, 400) && statuses_have(&statuses, 499));
    CU_ASSERT_FALSE(statuses_have(&statuses, 200) || statuses_have(&statuses, 500));
    CU_ASSERT_FALSE(statuses_have(&statuses, -1) || statuses_have(&statuses, 1000));
    CU_ASSERT_TRUE(statuses.has_error && statuses.has_timeout);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CU_ASSERT_PTR_EQUAL(statuses_read(&statuses, &(struct weir_list){ &bad[i], 1 }), bad[i]);
}

static void test_url_that_is_none_is_rejected(void)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "client");

    CU_ASSERT_EQUAL_FATAL(weir_kit_open_args(kit, "url: \"{}\""), 0);
    CU_ASSERT_EQUAL(weir_kit_handle(kit, "any/1", "file:///etc/passwd", 18), WEIR_REJECT);
    CU_ASSERT_EQUAL(weir_kit_handle(kit, "any/1", "a/\"b", 4), WEIR_REJECT);
    peer_hand_over(kit, "http://a b/\r\nX: y");
    peer_settled(kit, WEIR_REJECT, 3);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "output", test_answer_goes_to_the_output },
        { "requester", test_requester_gets_the_answer },
        { "body", test_payload_is_the_body },
        { "verdicts", test_each_end_has_its_verdict },
        { "headers", test_headers_without_end_are_rejected },
        { "retry after", test_retry_after_is_respected },
        { "pauses", test_pauses_grow },
        { "nobody", test_server_that_is_not_there },
        { "slow", test_server_that_is_too_slow },
        { "redirects", test_redirects_are_followed_up_to_a_number },
        { "secrets", test_secrets_do_not_go_to_another_server },
        { "room", test_answer_waits_for_room_and_is_not_fetched_again },
        { "unwanted", test_answer_that_nobody_wants_is_given_up },
        { "many", test_many_at_a_time },
        { "closed", test_worker_may_be_closed_in_the_middle },
        { "memory", test_memory_may_be_out },
        { "templates", test_templates_are_filled },
        { "templates that begin with the payload", test_template_may_begin_with_the_payload },
        { "statuses", test_words_are_sets_of_statuses },
        { "no URL", test_url_that_is_none_is_rejected },
        CU_TEST_INFO_NULL,
    };

    return suite_run("http client", tests);
}
