/* SPDX-License-Identifier: MIT */
/*
 * Goal:   the behaviours of amqp without a server: options are checked, a server that is not there
 *         or speaks something else is reported with its address, no secret is reported, and a
 *         worker that
 *         may open without a server takes no message until it has one.
 * Method: the kit, and ports of 127.0.0.1 at which nothing listens, or a listener that says
 *         nothing.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <weir/testkit.h>

#include "../host/suite.h"

extern const struct weir_plugin weir_plugin_v1;

static struct weir_kit *make(const char *behaviour)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, behaviour);

    CU_ASSERT_PTR_NOT_NULL_FATAL(kit);
    return kit;
}

/* A socket at a port of its own; a client is refused until somebody listens. */
static int reserve(int *out_port)
{
    struct sockaddr_in address = { .sin_family = AF_INET };
    socklen_t size = sizeof address;
    int held = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    CU_ASSERT_EQUAL_FATAL(bind(held, (struct sockaddr *)&address, size), 0);
    CU_ASSERT_EQUAL_FATAL(getsockname(held, (struct sockaddr *)&address, &size), 0);
    *out_port = ntohs(address.sin_port);
    return held;
}

static bool is_mistake(const char *behaviour, const char *args, const char *what)
{
    struct weir_kit *kit = make(behaviour);
    bool is = weir_kit_open_args(kit, args) == WEIR_EINVALID &&
              strstr(weir_kit_mistakes(kit), what) != NULL;

    if (!is)
        (void)fprintf(stderr, "%s: %s\n", args, weir_kit_mistakes(kit));
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
    return is;
}

static void test_wrong_options_are_reported(void)
{
    CU_ASSERT_TRUE(is_mistake("publish", "queue: q", "servers"));
    CU_ASSERT_TRUE(is_mistake("publish", "servers: [\"amqp://a\"]", "queue"));
    CU_ASSERT_TRUE(is_mistake("publish", "servers: [a]\nqueue: q", "begins with amqp://"));
    CU_ASSERT_TRUE(is_mistake("publish", "servers: [\"amqp://a\"]\nqueue: amq.q", "amq."));
    CU_ASSERT_TRUE(is_mistake("publish", "servers: [\"amqp://a\"]\nqueue: q\ncertificate: c",
                              "certificate and key"));
    CU_ASSERT_TRUE(is_mistake("publish", "servers: [\"amqps://a\"]\nqueue: q\nsasl: external",
                              "external needs certificate"));
    CU_ASSERT_TRUE(is_mistake("consume", "servers: [\"amqp://a\"]\nqueue: q\nsasl: external",
                              "needs amqps://"));
    CU_ASSERT_TRUE(is_mistake("consume", "servers: [\"amqp://a\"]\nqueue: q\nbefore: [q]",
                              "is the option `queue`"));
    CU_ASSERT_TRUE(is_mistake("consume", "servers: [\"amqp://a\"]\nqueue: q\nwindow: 0", "window"));
}

static void test_password_in_an_address_is_refused_and_not_reported(void)
{
    struct weir_kit *kit = make("publish");

    CU_ASSERT_EQUAL(weir_kit_open_args(kit, "servers: [\"amqp://me:secret@a\"]\nqueue: q"),
                    WEIR_EINVALID);
    CU_ASSERT_PTR_NOT_NULL(strstr(weir_kit_mistakes(kit), "they are options"));
    CU_ASSERT_PTR_NULL(strstr(weir_kit_mistakes(kit), "secret"));
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void expect_absent(const char *behaviour)
{
    struct weir_kit *kit = make(behaviour);
    char address[64];
    int port, held = reserve(&port);

    CU_ASSERT_NOT_EQUAL(weir_kit_open_format(kit,
                                             "servers: [\"amqp://127.0.0.1:%d\"]\nqueue: q\n"
                                             "password: secret",
                                             port),
                        0);
    (void)snprintf(address, sizeof address, "127.0.0.1:%d: nothing listens there", port);
    CU_ASSERT_PTR_NOT_NULL(strstr(weir_kit_reason(kit), "nothing listens"));
    CU_ASSERT_TRUE(weir_kit_has_logged(kit, WEIR_LOG_ERROR, address));
    CU_ASSERT_PTR_NULL(strstr(weir_kit_logged(kit), "secret"));
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
    (void)close(held);
}

static void test_absent_server_refuses_the_start(void)
{
    expect_absent("publish");
    expect_absent("consume");
}

static void test_server_that_says_nothing_is_left_after_the_timeout(void)
{
    struct weir_kit *kit = make("publish");
    int port, silent = reserve(&port), absent_port, absent = reserve(&absent_port);
    char words[64];

    CU_ASSERT_EQUAL(listen(silent, 1), 0);
    CU_ASSERT_NOT_EQUAL(weir_kit_open_format(kit,
                                             "servers: [\"amqp://127.0.0.1:%d\", "
                                             "\"amqp://127.0.0.1:%d\"]\nqueue: q\ntimeout: 100ms",
                                             absent_port, port),
                        0);
    (void)snprintf(words, sizeof words, "127.0.0.1:%d: login", port);
    CU_ASSERT_TRUE(weir_kit_has_logged(kit, WEIR_LOG_ERROR, words));
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
    (void)close(silent);
    (void)close(absent);
}

static void test_publisher_without_a_server_takes_nothing(void)
{
    struct weir_kit *kit = make("publish");
    int port, held = reserve(&port);

    CU_ASSERT_EQUAL(weir_kit_open_format(kit,
                                         "servers: [\"amqp://127.0.0.1:%d\"]\nqueue: q\n"
                                         "must_connect: false",
                                         port),
                    0);
    CU_ASSERT_EQUAL(weir_kit_demand(kit), 0);
    CU_ASSERT_TRUE(weir_kit_has_logged(kit, WEIR_LOG_ERROR, "trying again"));
    CU_ASSERT_PTR_NOT_NULL(strstr(weir_kit_inspect(kit, NULL), "connection=down"));
    while (weir_kit_log_count(kit) <= 2) { /* until it has tried again */
        (void)weir_kit_poll(kit);
        weir_kit_advance(kit, 1);
    }
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
    (void)close(held);
}

static void test_source_without_a_server_waits(void)
{
    struct weir_kit *kit = make("consume");
    int port, held = reserve(&port);

    CU_ASSERT_EQUAL(weir_kit_open_format(kit,
                                         "servers: [\"amqp://127.0.0.1:%d\"]\nqueue: q\n"
                                         "must_connect: false",
                                         port),
                    0);
    CU_ASSERT_EQUAL(weir_kit_produce(kit, 10), WEIR_WAIT);
    weir_kit_advance(kit, 1000);
    CU_ASSERT_EQUAL(weir_kit_produce(kit, 10), WEIR_WAIT);
    CU_ASSERT_EQUAL(weir_kit_leave(kit), WEIR_END);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
    (void)close(held);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "options", test_wrong_options_are_reported },
        { "password", test_password_in_an_address_is_refused_and_not_reported },
        { "absent", test_absent_server_refuses_the_start },
        { "silent", test_server_that_says_nothing_is_left_after_the_timeout },
        { "publisher waits", test_publisher_without_a_server_takes_nothing },
        { "source waits", test_source_without_a_server_waits },
        CU_TEST_INFO_NULL,
    };

    return suite_run("amqp", tests);
}
