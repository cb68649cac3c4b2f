/* SPDX-License-Identifier: MIT */
/*
 * Goal:   no step of connecting holds amqp up: a look-up is inside `timeout`, a worker that
 *         connects again takes its turns meanwhile, and its end waits for neither a name server
 *         nor a server that says nothing.
 * Method: the kit is the host; getaddrinfo is the test's own, and does not return; servers are
 *         listeners that never answer. A behaviour that waited for one of them would never go on,
 *         and the test would not end.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <weir/testkit.h>

#include "../host/suite.h"
#include "silent_names.h"

extern const struct weir_plugin weir_plugin_v1;

static const char *const behaviours[] = { "publish", "consume" };

static struct weir_kit *make(size_t behaviour)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, behaviours[behaviour]);

    CU_ASSERT_PTR_NOT_NULL_FATAL(kit);
    return kit;
}

/* A socket at a port of its own; a client is refused until somebody listens. */
static int reserve(int *out_port)
{
    struct sockaddr_in address = { .sin_family = AF_INET };
    socklen_t size = sizeof address;
    int held = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    CU_ASSERT_EQUAL_FATAL(bind(held, (struct sockaddr *)&address, size), 0);
    CU_ASSERT_EQUAL_FATAL(getsockname(held, (struct sockaddr *)&address, &size), 0);
    *out_port = ntohs(address.sin_port);
    return held;
}

static void turn(struct weir_kit *kit)
{
    (void)weir_kit_poll(kit);
    weir_kit_advance(kit, 1);
}

static void until_logged(struct weir_kit *kit, const char *words)
{
    while (!weir_kit_has_logged(kit, WEIR_LOG_ERROR, words))
        turn(kit);
}

static void test_start_waits_for_no_name_server(void)
{
    int port, held = reserve(&port);

    for (size_t i = 0; i < 2; i++) {
        struct weir_kit *kit = make(i);

        CU_ASSERT_NOT_EQUAL(weir_kit_open_format(kit,
                                                 "servers: [\"amqp://a.silent\", "
                                                 "\"amqp://127.0.0.1:%d\"]\n"
                                                 "queue: q\ntimeout: 100ms",
                                                 port),
                            0);
        CU_ASSERT_TRUE(weir_kit_has_logged(kit, WEIR_LOG_ERROR, "nothing listens there"));
        CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
        kit = make(i);
        CU_ASSERT_NOT_EQUAL(weir_kit_open_args(kit, "servers: [\"amqp://a.silent\"]\n"
                                                    "queue: q\ntimeout: 100ms"),
                            0);
        CU_ASSERT_TRUE(weir_kit_has_logged(
            kit, WEIR_LOG_ERROR, "amqp://a.silent: no address and no connection within 100 ms"));
        CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
    }
    CU_ASSERT_EQUAL(silent_names_waiting(), 4);
    silent_names_answer();
    silent_names_be_silent();
    (void)close(held);
}

static void test_start_without_a_server_goes_on_meanwhile(void)
{
    for (size_t i = 0; i < 2; i++) {
        struct weir_kit *kit = make(i);

        CU_ASSERT_EQUAL(weir_kit_open_args(kit, "servers: [\"amqp://a.silent\"]\nqueue: q\n"
                                                "timeout: 100ms\nmust_connect: false"),
                        0);
        CU_ASSERT_FALSE(weir_kit_has_logged(kit, WEIR_LOG_ERROR, "trying again"));
        until_logged(kit, "no address and no connection within 100 ms");
        until_logged(kit, "trying again");
        CU_ASSERT_TRUE(silent_names_waiting() > 0);
        CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
    }
    silent_names_answer();
    silent_names_be_silent();
}

/* The look-up is answered after the worker has given it up, and after its end. */
static void test_late_answers_come_to_nobody(void)
{
    struct weir_kit *kit = make(0);

    CU_ASSERT_EQUAL(weir_kit_open_args(kit, "servers: [\"amqp://a.silent\"]\nqueue: q\n"
                                            "timeout: 100ms\nmust_connect: false"),
                    0);
    until_logged(kit, "trying again");
    silent_names_answer();
    until_logged(kit, "hostname lookup failed");
    silent_names_be_silent();
    while (silent_names_waiting() == 0)
        turn(kit);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
    silent_names_answer();
    silent_names_be_silent();
}

static void test_turns_and_the_end_wait_for_no_server_that_says_nothing(void)
{
    for (size_t i = 0; i < 2; i++) {
        struct weir_kit *kit = make(i);
        int port, server = reserve(&port), client;

        CU_ASSERT_EQUAL(weir_kit_open_format(kit,
                                             "servers: [\"amqp://127.0.0.1:%d\"]\nqueue: q\n"
                                             "timeout: 10m\nmust_connect: false",
                                             port),
                        0);
        CU_ASSERT_EQUAL(listen(server, 1), 0);
        while ((client = accept4(server, NULL, NULL, SOCK_CLOEXEC)) < 0)
            turn(kit);
        for (int turns = 0; turns < 100; turns++)
            turn(kit);
        CU_ASSERT_PTR_NOT_NULL(strstr(weir_kit_inspect(kit, NULL), "connection=down"));
        CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
        (void)close(client);
        (void)close(server);
    }
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "start", test_start_waits_for_no_name_server },
        { "meanwhile", test_start_without_a_server_goes_on_meanwhile },
        { "late", test_late_answers_come_to_nobody },
        { "silent", test_turns_and_the_end_wait_for_no_server_that_says_nothing },
        CU_TEST_INFO_NULL,
    };

    return suite_run("amqp names", tests);
}
