/* SPDX-License-Identifier: MIT */
/*
 * Goal:   `weir check` refuses options of http.client that no server should get, and prints no
 *         secret.
 * Method: the kit opens the worker with each mistake.
 */
#include <stdio.h>
#include <string.h>

#include <weir/testkit.h>

#include "../../../plugins/http/target.h"
#include "../host/suite.h"

extern const struct weir_plugin weir_plugin_v1;

static void expect_mistake(const char *args, const char *mistake)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "client");

    CU_ASSERT_EQUAL(weir_kit_open_args(kit, args), WEIR_EINVALID);
    CU_ASSERT_PTR_NOT_NULL(strstr(weir_kit_mistakes(kit), mistake));
    CU_ASSERT_PTR_NULL(strstr(weir_kit_mistakes(kit), "hidden"));
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_wrong_options_are_reported(void)
{
    expect_mistake("method: GET", "url: is required");
    expect_mistake("url: ftp://a/", "does not begin with http://");
    expect_mistake("url: http://a/\nmethod: G T", "G T is no method");
    expect_mistake("url: http://a/\nmethod: HEAD\nbody: payload", "HEAD has no body");
    expect_mistake("url: http://a/\nmethod: TRACE\nbody: payload", "TRACE has no body");
    expect_mistake("url: http://a/\nmethod: CONNECT", "CONNECT asks a proxy for a tunnel");
    expect_mistake("url: http://a/\nuser_agent: \"hidden\\r\\nX: y\"", "user_agent: is no value");
    expect_mistake("url: http://a/\nheaders: {\"a b\": c}", "a b is no name of a header");
    expect_mistake("url: http://a/\nsecret_headers: {a: \"hidden\\nb\"}", "the value of a has a");
    expect_mistake("url: http://a/\ndone: [20]", "20 is no status");
    expect_mistake("url: http://a/\ndone: [error]", "without an answer");
    expect_mistake("url: http://a/\nretry: [soon]", "soon is not 429");
    expect_mistake("url: http://a/\nretry: [200]", "a status is in `done`, too");
    expect_mistake("url: http://a/\nbackoff: 2m", "is longer than backoff_max");
}

static void test_headers_of_the_connection_are_not_set(void)
{
    static const char *const names[] = {
        "Content-Length", "TRANSFER-ENCODING", "connection",      "Keep-Alive", "TE",
        "Trailer",        "Upgrade",           "proxy-connection"
    };
    static const char *const hosts[] = { "", "a b", "a/hidden", "a\\tb", "a, b", "me@hidden" };
    char args[256];

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        for (int is_secret = 0; is_secret < 2; is_secret++) {
            (void)snprintf(args, sizeof args, "url: http://a/\n%s: {%s: hidden}",
                           is_secret ? "secret_headers" : "headers", names[i]);
            expect_mistake(args, "is of the connection");
        }
    for (size_t i = 0; i < sizeof hosts / sizeof hosts[0]; i++) {
        (void)snprintf(args, sizeof args, "url: http://a/\nheaders: {Host: \"%s\"}", hosts[i]);
        expect_mistake(args, strstr(hosts[i], "\\t") ? "the value of Host" : "is no host");
    }
    expect_mistake("url: http://a/\nheaders: {a: \"hidden\\rX: y\"}", "the value of a has a");
}

/* A mistake of a text with `size` times `a` in it. */
static void expect_too_long(const char *before, size_t size, const char *after, const char *mistake)
{
    char args[2 * TARGET_SIZE_MAX];
    size_t first = strlen(before);

    memcpy(args, before, first);
    memset(args + first, 'a', size);
    (void)snprintf(args + first + size, sizeof args - first - size, "%s", after);
    expect_mistake(args, mistake);
}

static void test_what_is_too_long_is_reported(void)
{
    expect_too_long("url: http://a/", TARGET_SIZE_MAX - 8, "", "is longer than 64 KiB");
    expect_too_long("url: http://a/\nheaders: {a: ", 8188, "}", "a is longer than 8192 bytes");
    expect_too_long("url: http://a/\nuser_agent: ", 8193, "", "user_agent: is no value");
    expect_too_long("url: http://a/\nsocket: /", 107, "", "socket: is longer than 107 bytes");
}

static void test_many_headers_are_reported(void)
{
    char args[9 * 8192] = "url: http://a/\nheaders: {";
    size_t size = strlen(args);

    for (int i = 0; i < 9; i++) {
        size += (size_t)snprintf(args + size, sizeof args - size, "a%d: ", i);
        memset(args + size, 'a', 7500);
        size += 7500;
        size += (size_t)snprintf(args + size, sizeof args - size, "%s", i < 8 ? ", " : "}");
    }
    expect_mistake(args, "more than 64 KiB together");
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "options", test_wrong_options_are_reported },
        { "of the connection", test_headers_of_the_connection_are_not_set },
        { "too long", test_what_is_too_long_is_reported },
        { "many headers", test_many_headers_are_reported },
        CU_TEST_INFO_NULL,
    };

    return suite_run("http options", tests);
}
