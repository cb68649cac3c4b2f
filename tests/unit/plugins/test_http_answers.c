/* SPDX-License-Identifier: MIT */
/*
 * Goal:   http.client takes no answer for one that RFC 9112 calls invalid, passes on no header of
 *         the connection, and sends what never passes not at all.
 * Method: the kit is the host; the server is a socket of the test, which answers with given bytes.
 *         Tables: a row is an answer.
 */
#include <stdio.h>
#include <string.h>

#include "../../../plugins/http/http.h"
#include "../host/suite.h"
#include "http_peer.h"

/* promise B131 */
static void test_long_url_is_rejected_at_once(void)
{
    static const size_t sizes[] = { 65536, 1000000, 9000000 };
    static char text[9000000];
    struct weir_kit *kit = peer_open("");

    memset(text, 'a', sizeof text);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        CU_ASSERT_EQUAL(weir_kit_handle(kit, "any/1", text, sizes[i]), WEIR_REJECT);
        CU_ASSERT_STRING_EQUAL(weir_kit_reason(kit), "the URL is longer than 64 KiB");
    }
    peer_hand_over(kit, "x");
    peer_serve(kit, PEER_OK);
    peer_settled(kit, WEIR_DONE, 1);
    peer_finish(kit);
}

static void expect_head(const char *head, const char *wanted)
{
    struct weir_kit *kit = peer_open("pass: response");
    char text[2048];

    (void)snprintf(text, sizeof text, "%s\r\n\r\nyes", head);
    CU_ASSERT_EQUAL(weir_kit_request(kit, "any/1", "x", 1), WEIR_KEEP);
    peer_serve(kit, text);
    peer_settled(kit, WEIR_DONE, 1);
    peer_expect_text(weir_kit_replied(kit, 0), HTTP_RESPONSE_TAG, wanted);
    peer_finish(kit);
}

#define HEAD "HTTP/1.1 200 OK\r\n"

/* promise B130 */
static void test_headers_are_those_of_the_last_answer(void)
{
    expect_head(HEAD "A: 1\r\nHTTP/1.1: 2\r\nB: 3", "200\na: 1\nhttp/1.1: 2\nb: 3\n\nyes");
    expect_head("HTTP/1.1 103 Early\r\nLink: a\r\n\r\n" HEAD "B: 3", "200\nb: 3\n\nyes");
    expect_head(HEAD "A: 1\r\n 2\r\n\t 3 \r\nB: 4", "200\na: 1 2 3\nb: 4\n\nyes");
    expect_head(HEAD "A:\r\n 2", "200\na: 2\n\nyes");
    expect_head(HEAD "Content-Length: 3\r\ncontent-length: 3,3\r\nA: 1", "200\na: 1\n\nyes");
    expect_head(HEAD "A: 1\nB: 2", "200\na: 1\nb: 2\n\nyes");
}

/* promise B130: RFC 9110 7.6.1 */
static void test_headers_of_the_connection_are_left_out(void)
{
    expect_head(HEAD "Keep-Alive: timeout=5\r\nTE: x\r\nTrailer: y\r\nA: 1\r\nUpgrade: h2c\r\n"
                     "Proxy-Connection: close",
                "200\na: 1\n\nyes");
    expect_head(HEAD "X-Secret: 1\r\nConnection: close, x-SECRET ,Other\r\nX-Secrets: 2\r\n"
                     "other: 3\r\nOther-: 4",
                "200\nx-secrets: 2\nother-: 4\n\nyes");
    expect_head(HEAD "Connection: a\r\n ,b\r\nA: 1\r\nB: 2\r\nC: 3\r\nconnection: close",
                "200\nc: 3\n\nyes");
}

/* promise B130: RFC 9112 2.2, 5.1, 5.2 and 6.3 */
static void test_what_is_no_answer_is_tried_again(void)
{
    static const char *const heads[] = {
        "A: 1\rB: 2",
        "A: 1\r\r\nB: 2",
        "Content-Length: 3\r\nContent-Length: 4",
        "Content-Length: 3\r\nContent-Length: 03",
        "Content-Length: 3, 4",
        "Content-Length: +3",
        "Content-Length: 9999999999999999999",
        "Content-Length: 3 3",
        "Content-Length:\r\n 3",
        "Transfer-Encoding:\r\n chunked",
        "Content-Length : 3",
        "A\t: 3",
        " A: 1\r\nB: 2",
    };
    char text[2048];

    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++)
        for (int is_retried = 0; is_retried < 2; is_retried++) {
            struct weir_kit *kit = peer_open(is_retried ? "" : "retry: [500]");

            (void)snprintf(text, sizeof text, HEAD "%s\r\n\r\nyes", heads[i]);
            peer_hand_over(kit, "x");
            peer_serve(kit, text);
            peer_settled(kit, is_retried ? WEIR_RETRY : WEIR_REJECT, 1);
            CU_ASSERT_PTR_NULL(weir_kit_emitted(kit, 0, 0));
            CU_ASSERT_PTR_NULL(strstr(weir_kit_reason(kit), "libcurl"));
            CU_ASSERT_PTR_NOT_NULL(strstr(weir_kit_inspect(kit, NULL), "no_answer=1\n"));
            peer_finish(kit);
        }
}

/* promise B130 */
static void test_server_that_does_not_speak_http(void)
{
    peer_expect("", "yes\r\n\r\nyes", WEIR_RETRY, "the server does not speak HTTP");
    peer_expect("", "HTTP/1.1 20 OK\r\n\r\n", WEIR_RETRY, "the server does not speak HTTP");
}

static void test_empty_body_has_its_length(void)
{
    static const char *const methods[] = { "POST", "PUT", "PATCH" };

    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
        char args[64];
        struct weir_kit *kit;

        (void)snprintf(args, sizeof args, "method: %s\nbody: none", methods[i]);
        kit = peer_open(args);
        peer_hand_over(kit, "x");
        peer_serve(kit, PEER_OK);
        peer_settled(kit, WEIR_DONE, 1);
        CU_ASSERT_PTR_NOT_NULL(strstr(peer_asked, "\r\nContent-Length: 0\r\n"));
        CU_ASSERT_PTR_NULL(strcasestr(peer_asked, "content-type"));
        peer_finish(kit);
    }
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "last answer", test_headers_are_those_of_the_last_answer },
        { "hops", test_headers_of_the_connection_are_left_out },
        { "no answer", test_what_is_no_answer_is_tried_again },
        { "no HTTP", test_server_that_does_not_speak_http },
        { "no body", test_empty_body_has_its_length },
        { "long URL", test_long_url_is_rejected_at_once },
        CU_TEST_INFO_NULL,
    };

    return suite_run("http answers", tests);
}
