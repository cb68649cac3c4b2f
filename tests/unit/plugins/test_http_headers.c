/* SPDX-License-Identifier: MIT */
/*
 * Goal:   http.server passes on what the headers of both sides say, and nothing that is for one
 *         connection alone.
 * Method: as in test_http_server.c.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../../../plugins/http/http.h"
#include "../host/suite.h"
#include "http_site.h"

/* RFC 9110, 5.3: what a proxy appends is not hidden behind what the client sent. */
static void test_equal_headers_are_one_list(void)
{
    static const char wanted[] = "GET /\ncontent-type: a/b\nx-forwarded-for: 6.6.6.6, 10.0.0.1\n"
                                 "cookie: a=1; b=2\n\n";
    struct weir_kit *kit = site_serve("headers: [X-Forwarded-For, Cookie, X-None]");
    int client = site_client("GET / HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 6.6.6.6\r\n"
                             "Cookie: a=1\r\nContent-Type: a/b\r\nContent-Type: c/d\r\n"
                             "x-forwarded-for: 10.0.0.1\r\nCookie: b=2\r\n\r\n");
    const struct weir_message *message = site_sent(kit, 1)->message;

    CU_ASSERT_EQUAL_FATAL(message->size, strlen(wanted));
    CU_ASSERT_EQUAL(memcmp(message->data, wanted, message->size), 0);
    (void)close(client);
    site_finish(kit);
}

/* Which headers of a reply the client gets. */
static void test_headers_of_one_connection_stay(void)
{
    static const struct {
        const char *request, *reply, *has, *has_not;
    } rows[] = {
        { GET, "200\nConnection: X-Secret, y\nx-secret: 1\nY: 2\nz: 3\n\nbody", "\r\nz: 3\r\n",
          "ecret" },
        { GET, "200\nx: 1\nconnection:close,x\nconnection: Y\ny: 2\nxy: 3\n\nbody", "\r\nxy: 3\r\n",
          "\r\nx: 1" },
        { GET, "200\nkeep-alive: 5\nte: x\nupgrade: h2c\n\nbody", "Content-Length: 4\r\n", "h2c" },
        { GET, "200\ncontent-length: 1234\n\nbody", "Content-Length: 4\r\n", "1234" },
        { "HEAD / HTTP/1.1\r\nHost: a\r\n\r\n", "200\ncontent-length: 1234\n\n",
          "\r\nContent-Length: 1234\r\n", "Length: 0" },
        { "HEAD / HTTP/1.1\r\nHost: a\r\n\r\n", "200\n\nbody", "\r\nContent-Length: 4\r\n",
          "body" },
        { "HEAD / HTTP/1.1\r\nHost: a\r\n\r\n", "200\ncontent-length: 1, 2\nx: 1\n\n",
          "\r\nx: 1\r\n", "ength" },
    };
    struct weir_kit *kit = site_serve("");

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int client = site_client(rows[i].request);
        const struct weir_kit_sent *sent = site_sent(kit, i + 1);
        const char *answer;

        CU_ASSERT_EQUAL(weir_kit_answer(kit, sent->reference, 0, HTTP_RESPONSE_TAG, rows[i].reply,
                                        strlen(rows[i].reply)),
                        0);
        answer = site_answer(kit, client);
        CU_ASSERT_PTR_NOT_NULL(strstr(answer, rows[i].has));
        CU_ASSERT_PTR_NULL(strstr(answer, rows[i].has_not));
    }
    site_finish(kit);
}

/* RFC 9110, 9.3.2: also what is refused. */
static void test_head_never_gets_a_body(void)
{
    struct weir_kit *kit = site_serve("");
    const char *answer = site_answer(kit,
                                     site_client("HEAD / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"));

    CU_ASSERT_TRUE(site_begins(answer, "HTTP/1.1 400 "));
    CU_ASSERT_STRING_EQUAL(strstr(answer, "\r\n\r\n"), "\r\n\r\n");
    site_finish(kit);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "lists", test_equal_headers_are_one_list },
        { "of one connection", test_headers_of_one_connection_stay },
        { "HEAD", test_head_never_gets_a_body },
        CU_TEST_INFO_NULL,
    };

    return suite_run("http headers", tests);
}
