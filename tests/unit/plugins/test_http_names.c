/* SPDX-License-Identifier: MIT */
/*
 * Goal:   a look-up of a name that is not answered is inside the time-outs of http.client: the
 *         message gets its verdict, other fetches of the worker go on, and its end waits for none.
 *         The number of look-ups that run has a bound.
 * Method: the kit is the host; getaddrinfo is the test's own, and does not return. A worker that
 *         waited for it would never go on, and the test would not end.
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

static struct weir_kit *open_with(const char *args)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "client");

    CU_ASSERT_PTR_NOT_NULL_FATAL(kit);
    CU_ASSERT_EQUAL_FATAL(weir_kit_open_args(kit, args), 0);
    return kit;
}

static void turn(struct weir_kit *kit)
{
    (void)weir_kit_poll(kit);
    weir_kit_advance(kit, 1);
}

static void fetch(struct weir_kit *kit, const char *url)
{
    CU_ASSERT_EQUAL(weir_kit_handle(kit, "any/1", url, strlen(url)), WEIR_KEEP);
}

static void until_settled(struct weir_kit *kit, enum weir_verdict verdict, size_t count)
{
    while (weir_kit_settled_count(kit, verdict) < count)
        turn(kit);
}

static void test_look_up_is_inside_the_time_outs(void)
{
    static const char *const limits[] = {
        "url: \"{}\"\nconnect_timeout: 50ms\ntimeout: 1h",
        "url: \"{}\"\nconnect_timeout: 1h\ntimeout: 50ms",
    };

    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        struct weir_kit *kit = open_with(limits[i]);

        fetch(kit, "http://a.silent/");
        fetch(kit, "http://b.silent/");
        until_settled(kit, WEIR_RETRY, 2);
        CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
    }
    silent_names_answer();
    silent_names_be_silent();
}

static void fetch_many(struct weir_kit *kit, uint32_t count)
{
    char url[64];

    for (uint32_t i = 0; i < count; i++) {
        (void)snprintf(url, sizeof url, "http://n%u.silent/", i);
        fetch(kit, url);
    }
}

/* Waits until the worker has as many look-ups that have outlived their fetches. */
static void until_late(struct weir_kit *kit, unsigned count)
{
    char wanted[32];

    (void)snprintf(wanted, sizeof wanted, "late_lookups=%u\n", count);
    while (!strstr(weir_kit_inspect(kit, NULL), wanted))
        turn(kit);
}

/* promise B132: with `parallel: 4` look-ups begin while fewer than four are late. */
static void test_number_of_look_ups_has_a_bound(void)
{
    struct weir_kit *kit = open_with(
        "url: \"{}\"\nparallel: 4\nconnect_timeout: 300ms\nbackoff: 1ms\nretry: [timeout]");
    size_t settled = 7;

    fetch_many(kit, 3);
    until_settled(kit, WEIR_RETRY, 3);
    until_late(kit, 3);
    fetch_many(kit, 4);
    until_settled(kit, WEIR_RETRY, 7);
    until_late(kit, 7);
    while (silent_names_waiting() < 7)
        turn(kit);
    do { /* a turn that follows in the same call clears the reason */
        fetch_many(kit, 1);
        until_settled(kit, WEIR_RETRY, ++settled);
    } while (silent_names_waiting() == 7 &&
             strcmp(weir_kit_reason(kit), "too many look-ups of names have not ended") != 0);
    CU_ASSERT_EQUAL(weir_kit_retry_ms(kit), 300);
    CU_ASSERT_EQUAL(silent_names_waiting(), 7);
    silent_names_answer();
    until_late(kit, 0);
    silent_names_be_silent();
    fetch_many(kit, 1);
    until_settled(kit, WEIR_RETRY, ++settled);
    until_late(kit, 1);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
    silent_names_answer();
    silent_names_be_silent();
}

/* promise B132: a message that is not wanted does not leave an uncounted look-up. */
static void test_look_up_of_a_message_that_is_given_up_counts(void)
{
    struct weir_kit *kit = open_with("url: \"{}\"\nconnect_timeout: 1h\ntimeout: 1h");

    fetch_many(kit, 1);
    while (silent_names_waiting() == 0)
        turn(kit);
    weir_kit_wanted(kit, false);
    weir_kit_advance(kit, 1000);
    until_settled(kit, WEIR_REJECT, 1);
    until_late(kit, 1);
    silent_names_answer();
    until_late(kit, 0);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
    silent_names_be_silent();
}

static int listen_somewhere(char *out_url, size_t size)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t length = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    CU_ASSERT_EQUAL_FATAL(bind(listener, (struct sockaddr *)&address, length), 0);
    CU_ASSERT_EQUAL_FATAL(listen(listener, 8), 0);
    CU_ASSERT_EQUAL_FATAL(getsockname(listener, (struct sockaddr *)&address, &length), 0);
    (void)snprintf(out_url, size, "http://127.0.0.1:%u/", ntohs(address.sin_port));
    return listener;
}

static void test_other_fetches_and_the_end_wait_for_no_look_up(void)
{
    static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    struct weir_kit *kit = open_with("url: \"{}\"\nconnect_timeout: 1h\ntimeout: 1h");
    char url[64];
    int listener = listen_somewhere(url, sizeof url), client;

    fetch(kit, "http://a.silent/");
    while (silent_names_waiting() == 0)
        turn(kit);
    fetch(kit, url);
    while ((client = accept4(listener, NULL, NULL, SOCK_CLOEXEC)) < 0)
        turn(kit);
    CU_ASSERT_EQUAL(send(client, answer, strlen(answer), MSG_NOSIGNAL), (ssize_t)strlen(answer));
    until_settled(kit, WEIR_DONE, 1);
    CU_ASSERT_EQUAL(silent_names_waiting(), 1);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 1); /* the kit settles the message */
    CU_ASSERT_EQUAL(silent_names_waiting(), 1);
    (void)close(client);
    (void)close(listener);
    silent_names_answer();
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "time-outs", test_look_up_is_inside_the_time_outs },
        { "bound", test_number_of_look_ups_has_a_bound },
        { "given up", test_look_up_of_a_message_that_is_given_up_counts },
        { "others", test_other_fetches_and_the_end_wait_for_no_look_up },
        CU_TEST_INFO_NULL,
    };

    return suite_run("http names", tests);
}
