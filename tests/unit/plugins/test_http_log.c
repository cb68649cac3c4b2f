/* SPDX-License-Identifier: MIT */
/*
 * Goal:   the access log of http.server has one line for each request, with what the client got,
 *         and nothing that a client sends forges one.
 * Method: as in test_http_server.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../../plugins/http/http.h"
#include "../host/suite.h"
#include "http_site.h"

static struct scratch logs;

static struct weir_kit *serve(void)
{
    char setting[512];

    scratch_init(&logs);
    (void)snprintf(setting, sizeof setting, "access_log: %s", scratch_path(&logs, "log"));
    return site_serve(setting);
}

/* The log; the caller frees it. */
static char *finish(struct weir_kit *kit)
{
    char *log;

    site_finish(kit);
    log = scratch_read(&logs, "log");
    CU_ASSERT_PTR_NOT_NULL_FATAL(log);
    scratch_finish(&logs);
    return log;
}

/* `entry` stands behind time and peer of the only line. */
static void expect_line(struct weir_kit *kit, const char *entry)
{
    char *log = finish(kit);
    const char *end = strchr(log, '\n');

    if (!strstr(log, entry))
        (void)printf("\n%s has no %s\n", log, entry);
    CU_ASSERT_PTR_NOT_NULL(strstr(log, entry));
    CU_ASSERT_TRUE(end && end[1] == '\0');
    CU_ASSERT_EQUAL(strspn(log, " !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]"
                                "^_`abcdefghijklmnopqrstuvwxyz{|}~\n"),
                    strlen(log));
    free(log);
}

static void test_wrong_requests_forge_no_line(void)
{
    static const struct {
        const char *request, *entry;
    } rows[] = {
        { "G\x1bT / HTTP/1.1\r\nHost: a\r\n\r\n", "unix \"- -\" 400 " },
        { "a\"b / HTTP/1.1\r\nHost: a\r\n\r\n", "unix \"- -\" 400 " },
        { "GET /\x1b[0m HTTP/1.1\r\nHost: a\r\n\r\n", "unix \"GET /\" 400 " },
        { "GET / HTTP/1.1\r\nHost: a\nb\r\n\r\n", "unix \"GET /\" 400 " },
        { "GET /\"\\ HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "unix \"GET /??\" 400 " },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct weir_kit *kit = serve();

        CU_ASSERT_TRUE(
            site_begins(site_answer(kit, site_client(rows[i].request)), "HTTP/1.1 400 "));
        expect_line(kit, rows[i].entry);
    }
}

static void expect_entry(const char *request, const char *tag, const char *reply, size_t size,
                         const char *entry)
{
    struct weir_kit *kit = serve();
    int client = site_client(request);

    CU_ASSERT_EQUAL(weir_kit_answer(kit, site_sent(kit, 1)->reference, 0, tag, reply, size), 0);
    (void)site_answer(kit, client);
    expect_line(kit, entry);
}

static void test_line_says_what_the_client_got(void)
{
    static char huge[40000];

    memset(huge, 'x', sizeof huge);
    memcpy(huge, "200\nX-A: ", 9);
    memcpy(huge + sizeof huge - 2, "\n\n", 2);
    expect_entry("GET /\"a\\b HTTP/1.1\r\nHost: a\r\n\r\n", "any/1", "yes", 3,
                 "unix \"GET /?a?b\" 200 3 ");
    expect_entry("HEAD /h HTTP/1.1\r\nHost: a\r\n\r\n", "any/1", "yes", 3, "\"HEAD /h\" 200 0 ");
    expect_entry("GET /a HTTP/1.1\r\nHost: a\r\n\r\n", HTTP_RESPONSE_TAG, "404\n\nno", 7,
                 "\"GET /a\" 404 2 ");
    expect_entry("GET /a HTTP/1.1\r\nHost: a\r\n\r\n", HTTP_RESPONSE_TAG, huge, sizeof huge,
                 "\"GET /a\" 500 ");
}

static void test_client_that_left_is_499(void)
{
    struct weir_kit *kit = serve();
    int client = site_client(GET);

    (void)site_sent(kit, 1);
    (void)close(client);
    while (weir_kit_open_request_count(kit) > 0)
        site_run(kit);
    weir_kit_advance(kit, 1);
    expect_line(kit, "\" 499 0 ");
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "forged", test_wrong_requests_forge_no_line },
        { "got", test_line_says_what_the_client_got },
        { "left", test_client_that_left_is_499 },
        CU_TEST_INFO_NULL,
    };

    return suite_run("http log", tests);
}
