/* SPDX-License-Identifier: MIT */
/*
 * Goal:   the places of http.server are given up by what the sockets say, all that came is
 *         answered, and a source that leaves waits for no half request.
 * Method: as in test_http_server.c.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../../../plugins/http/listener.h"
#include "../host/suite.h"
#include "http_site.h"

/* The server has not read the second request when it needs a place. */
static void test_request_in_the_socket_keeps_its_place(void)
{
    struct weir_kit *kit = site_serve("connections: 1");
    int client = site_client(GET), other;

    site_answer_and_keep(kit, client, 1);
    CU_ASSERT_EQUAL(send(client, GET, strlen(GET), 0), (ssize_t)strlen(GET));
    other = site_client(GET);
    weir_kit_advance(kit, 300); /* looks for a place */
    (void)site_sent(kit, 2);
    CU_ASSERT_TRUE(site_begins(site_answer(kit, other), "HTTP/1.1 503 "));
    site_answer_and_keep(kit, client, 2);
    (void)close(client);
    site_finish(kit);
}

#define HEALTH "GET /healthz HTTP/1.1\r\nHost: weir\r\n\r\n"

/* What a client gets, while time goes on; closes it. Static. */
static const char *hear_late(struct weir_kit *kit, int client)
{
    static char text[4096];
    ssize_t got;

    while ((got = recv(client, text, sizeof text - 1, MSG_DONTWAIT)) < 0) {
        site_run(kit);
        weir_kit_advance(kit, 1);
    }
    text[got] = '\0';
    (void)close(client);
    return text;
}

/* promise B41: clients beyond the places, and what those who are silent take from them. */
static void expect_beyond(unsigned places, unsigned silent, unsigned refused, const char *request)
{
    char setting[64];
    int held[8], quiet[128], crowd[128];
    struct weir_kit *kit;

    (void)snprintf(setting, sizeof setting, "connections: %u\nretry_after: 7s", places);
    kit = site_serve(setting);
    for (unsigned i = 0; i < places; i++)
        held[i] = site_client(GET);
    (void)site_sent(kit, places);
    for (unsigned i = 0; i < silent; i++)
        quiet[i] = site_client("");
    for (unsigned i = 0; i < refused; i++)
        crowd[i] = site_client(request);
    CU_ASSERT_TRUE(site_begins(hear_late(kit, site_client(HEALTH)), "HTTP/1.1 200 "));
    for (unsigned i = 0; i < refused; i++) {
        const char *answer = hear_late(kit, crowd[i]);

        CU_ASSERT_TRUE(site_begins(answer, "HTTP/1.1 503 "));
        CU_ASSERT_PTR_NOT_NULL(strstr(answer, "\r\nRetry-After: 7\r\n"));
        CU_ASSERT_PTR_NOT_NULL(strstr(answer, "\r\n\r\nall connections are in use\n"));
    }
    for (unsigned i = 0; i < places; i++) {
        site_answer_and_keep(kit, held[i], i + 1);
        (void)close(held[i]);
    }
    CU_ASSERT_EQUAL(weir_kit_sent_count(kit), places);
    for (unsigned i = 0; i < silent; i++)
        (void)close(quiet[i]);
    site_finish(kit);
}

static void test_clients_beyond_the_places_are_answered(void)
{
    expect_beyond(1, 0, 1, GET);
    expect_beyond(1, 0, 3, POST);
    expect_beyond(8, 0, 24, GET);
    expect_beyond(8, 0, 80, POST);
    expect_beyond(4, 100, 12, GET);
    expect_beyond(1, 128, 0, GET);
    expect_beyond(2, 0, 100, "POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: 9999\r\n\r\nhalf");
    expect_beyond(2, 0, 20,
                  "POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n"
                  "Expect: 100-continue\r\n\r\n");
}

/* The place of the client that was answered is for the guest whose request is whole after that. */
static void test_guest_takes_a_place_that_is_free(void)
{
    struct weir_kit *kit = site_serve("connections: 1");
    int client = site_client(GET), guest;

    (void)site_sent(kit, 1);
    guest = site_client("GET /b HTTP/1.1\r\n");
    while (!strstr(weir_kit_inspect(kit, NULL), "guests=1\n"))
        site_run(kit);
    site_answer_and_keep(kit, client, 1);
    (void)close(client);
    while (!strstr(weir_kit_inspect(kit, NULL), "connections=1\n"))
        site_run(kit);
    CU_ASSERT_EQUAL(send(guest, "Host: weir\r\n\r\n", 14, 0), 14);
    site_answer_and_keep(kit, guest, 2);
    CU_ASSERT_PTR_NOT_NULL(strstr(weir_kit_inspect(kit, NULL), "guests=0\n"));
    (void)close(guest);
    site_finish(kit);
}

/* A whole request takes the place of half a one, which then is beyond the places. */
static void test_half_request_gives_up_its_place(void)
{
    struct weir_kit *kit = site_serve("connections: 1");
    int half = site_client("POST /p HTTP/1.1\r\n"), other;

    while (!strstr(weir_kit_inspect(kit, NULL), "connections=1\n"))
        site_run(kit);
    site_run(kit);
    other = site_client(GET);
    (void)site_sent(kit, 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(weir_kit_inspect(kit, NULL), "guests=1\n"));
    CU_ASSERT_EQUAL(send(half, "Host: a\r\n\r\n", 11, 0), 11);
    CU_ASSERT_TRUE(site_begins(site_answer(kit, half), "HTTP/1.1 503 "));
    site_answer_and_keep(kit, other, 1);
    (void)close(other);
    site_finish(kit);
}

/* The headers of a request are there: its body may take its time. */
static void test_body_on_its_way_keeps_its_place(void)
{
    struct weir_kit *kit = site_serve("connections: 1");
    int half = site_client("POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab");
    int other;

    while (!strstr(weir_kit_inspect(kit, NULL), "connections=1\n"))
        site_run(kit);
    site_run(kit);
    other = site_client(GET);
    CU_ASSERT_TRUE(site_begins(site_answer(kit, other), "HTTP/1.1 503 "));
    CU_ASSERT_EQUAL(send(half, "cde", 3, 0), 3);
    site_answer_and_keep(kit, half, 1);
    (void)close(half);
    site_finish(kit);
}

/* A client that was just answered may have sent its next request: it is not closed for another. */
static void test_client_that_was_served_is_not_closed_at_once(void)
{
    struct weir_kit *kit = site_serve("connections: 1");
    int client = site_client(GET), other;

    site_answer_and_keep(kit, client, 1);
    other = site_client(GET);
    (void)site_sent(kit, 2);
    CU_ASSERT_EQUAL(send(client, GET, strlen(GET), MSG_NOSIGNAL), (ssize_t)strlen(GET));
    CU_ASSERT_TRUE(site_begins(site_answer(kit, client), "HTTP/1.1 503 "));
    site_answer_and_keep(kit, other, 2);
    (void)close(other);
    site_finish(kit);
}

/* promise B79: clients that never pause would swap places with each other for ever. */
static void test_client_that_was_served_swaps_no_place_while_others_wait(void)
{
    struct weir_kit *kit = site_serve("connections: 1");
    int client = site_client(GET), other, waiting;

    site_answer_and_keep(kit, client, 1);
    other = site_client(GET); /* takes the place */
    site_answer_and_keep(kit, other, 2);
    CU_ASSERT_EQUAL(send(client, GET, strlen(GET), MSG_NOSIGNAL), (ssize_t)strlen(GET));
    site_answer_and_keep(kit, client, 3); /* nobody waits: it has the place again */
    CU_ASSERT_EQUAL(send(other, GET, strlen(GET), MSG_NOSIGNAL), (ssize_t)strlen(GET));
    waiting = site_client(GET);
    CU_ASSERT_TRUE(site_begins(site_hear(kit, other, "\r\n\r\n"), "HTTP/1.1 503 "));
    weir_kit_advance(kit, 10); /* the next guests may come */
    site_answer_and_keep(kit, waiting, 4);
    (void)close(client);
    (void)close(other);
    (void)close(waiting);
    site_finish(kit);
}

/* Half a request has no right to its place for longer than a second, when others wait. */
static void test_old_half_request_ends_for_others(void)
{
    struct weir_kit *kit = site_serve("connections: 1");
    int half = site_client("POST /p HTTP/1.1\r\n"), other;

    while (!strstr(weir_kit_inspect(kit, NULL), "connections=1\n"))
        site_run(kit);
    site_run(kit);
    weir_kit_advance(kit, 1000);
    other = site_client("");
    CU_ASSERT_STRING_EQUAL(site_answer(kit, half), "");
    (void)close(other);
    site_finish(kit);
}

/* Its deadline of 30 s becomes half a second. */
static void test_half_request_does_not_hold_up_the_end(void)
{
    struct weir_kit *kit = site_serve("");
    int client = site_client("POST /p HTTP/1.1\r\n");

    while (!strstr(weir_kit_inspect(kit, NULL), "connections=1\n"))
        site_run(kit);
    site_run(kit);
    CU_ASSERT_EQUAL(weir_kit_leave(kit), WEIR_WAIT);
    weir_kit_advance(kit, 1000);
    CU_ASSERT_EQUAL(weir_kit_leave(kit), WEIR_END);
    (void)close(client);
    site_finish(kit);
}

static void test_request_that_begins_at_the_end_does_not_hold_it_up(void)
{
    struct weir_kit *kit = site_serve("receive: 25s");
    int client = site_client("");

    while (!strstr(weir_kit_inspect(kit, NULL), "connections=1\n"))
        site_run(kit);
    CU_ASSERT_EQUAL(weir_kit_leave(kit), WEIR_WAIT);
    CU_ASSERT_EQUAL(send(client, "P", 1, 0), 1);
    (void)weir_kit_poll(kit);
    weir_kit_advance(kit, 1000);
    CU_ASSERT_EQUAL(weir_kit_leave(kit), WEIR_END);
    (void)close(client);
    site_finish(kit);
}

/* More than the steps of one turn, whose bytes have all left the socket. */
static void test_many_requests_in_one_packet_are_all_answered(void)
{
    static char many[4096];
    struct weir_kit *kit = site_serve("");
    size_t size = 0;
    int client;

    for (unsigned i = 0; i < 130; i++)
        size += (size_t)snprintf(many + size, sizeof many - size,
                                 "OPTIONS * HTTP/1.1\r\nHost:\r\n\r\n");
    (void)snprintf(many + size, sizeof many - size, "%s", GET);
    client = site_client(many);
    while (weir_kit_sent_count(kit) < 1) {
        (void)recv(client, many, sizeof many, MSG_DONTWAIT);
        site_run(kit);
    }
    CU_ASSERT_EQUAL(weir_kit_answer(kit, site_sent(kit, 1)->reference, 0, "any/1", "yes", 3), 0);
    (void)close(client);
    site_finish(kit);
}

/* The room of a body grows by doubling, but not past what is there. */
static void test_body_may_be_as_large_as_the_room_of_all(void)
{
    static char request[8192];
    struct weir_kit *kit = site_serve("body_max: 6000\nbodies_max: 6000");
    int head = snprintf(request, sizeof request,
                        "POST /p HTTP/1.1\r\nHost: weir\r\nContent-Length: 6000\r\n\r\n");
    int client;

    memset(request + head, 'x', 6000);
    client = site_client(request);
    CU_ASSERT_TRUE(site_sent(kit, 1)->message->size > 6000);
    CU_ASSERT_EQUAL(weir_kit_answer(kit, site_sent(kit, 1)->reference, 0, "any/1", "yes", 3), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(site_answer(kit, client), "\r\n\r\nyes"));
    site_finish(kit);
}

/* promise B119: a socket that the process has is found, or the shortage is the error. A new socket
 * would find the address in use. */
static void test_shortage_is_no_address_in_use(void)
{
    struct address address;
    struct rlimit limit, few;
    int first, next;

    CU_ASSERT_TRUE_FATAL(listener_parse("127.0.0.1:1", &address));
    ((struct sockaddr_in *)(void *)&address.socket)->sin_port = 0; /* the kernel chooses one */
    first = listener_open(&address);
    CU_ASSERT_TRUE_FATAL(first >= 0);
    CU_ASSERT_EQUAL(getsockname(first, (struct sockaddr *)&address.socket, &address.size), 0);
    next = dup(first);
    CU_ASSERT_TRUE_FATAL(next >= 0 && close(next) == 0);
    CU_ASSERT_EQUAL(getrlimit(RLIMIT_NOFILE, &limit), 0);
    few = (struct rlimit){ .rlim_cur = (rlim_t)next + 1, .rlim_max = limit.rlim_max };
    CU_ASSERT_EQUAL(setrlimit(RLIMIT_NOFILE, &few), 0); /* one, for the folder */
    CU_ASSERT_EQUAL(listener_open(&address), -1);
    CU_ASSERT_EQUAL(errno, EMFILE);
    CU_ASSERT_EQUAL(setrlimit(RLIMIT_NOFILE, &limit), 0);
    next = listener_open(&address);
    CU_ASSERT_TRUE(next >= 0);
    (void)close(next);
    (void)close(first);
}

#define HALF "POST /p HTTP/1.1\r\nHost: weir\r\nContent-Length: 4000\r\n\r\nabc"

/* promise B16: half bodies that use up bodies_max give way to whole requests, the oldest first. */
static void test_half_bodies_leave_room_for_others(void)
{
    struct weir_kit *kit = site_serve("bodies_max: 8KiB");
    int first = site_client(HALF), second = -1;

    while (!strstr(weir_kit_inspect(kit, NULL), "body_bytes=4096\n"))
        site_run(kit);
    weir_kit_advance(kit, 500);
    second = site_client(HALF);
    while (!strstr(weir_kit_inspect(kit, NULL), "body_bytes=8192\n"))
        site_run(kit);
    /* None of them is old. */
    CU_ASSERT_TRUE(site_begins(site_answer(kit, site_client(POST)), "HTTP/1.1 503 "));
    weir_kit_advance(kit, 600);
    (void)close(site_client(POST));
    (void)site_sent(kit, 1);
    CU_ASSERT_TRUE(site_begins(site_answer(kit, first), "HTTP/1.1 503 "));
    CU_ASSERT_PTR_NOT_NULL(strstr(weir_kit_inspect(kit, NULL), "crowded_out=1\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(weir_kit_inspect(kit, NULL), "body_bytes=4096\n"));
    (void)close(second);
    site_finish(kit);
}

/* The client of a half request hears why, when the source leaves. */
static void test_half_request_is_answered_at_the_end(void)
{
    struct weir_kit *kit = site_serve("");
    int client = site_client(HALF);

    while (!strstr(weir_kit_inspect(kit, NULL), "body_bytes=4096\n"))
        site_run(kit);
    CU_ASSERT_EQUAL(weir_kit_leave(kit), WEIR_WAIT);
    weir_kit_advance(kit, 1000);
    CU_ASSERT_TRUE(site_begins(site_answer(kit, client), "HTTP/1.1 503 "));
    while (weir_kit_leave(kit) == WEIR_WAIT)
        weir_kit_advance(kit, 100);
    site_finish(kit);
}

/* Two sources of one host have a socket in common exactly when their names are the same. */
static void test_names_of_addresses(void)
{
    static const char *const rows[][2] = {
        { "*:80", "[::]:80" },
        { "[::1]:80", "[0:0:0:0:0:0:0:1]:80" },
        { "[fe80::A]:80", "[fe80:0:0:0:0:0:0:a]:80" },
        { "127.0.0.1:80", "127.0.0.1:80" },
        { "unix:/a", "unix:/a" },
    };
    static const char *const others[] = { "0.0.0.0:80", "[::2]:80", "*:81", "127.0.0.1:8",
                                          "unix:/b" };
    char names[2][LISTENER_NAME_MAX];
    struct address address;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (size_t k = 0; k < 2; k++) {
            CU_ASSERT_TRUE_FATAL(listener_parse(rows[i][k], &address));
            listener_name(&address, names[k]);
        }
        CU_ASSERT_STRING_EQUAL(names[0], names[1]);
        CU_ASSERT_TRUE_FATAL(listener_parse(others[i], &address));
        listener_name(&address, names[1]);
        CU_ASSERT_STRING_NOT_EQUAL(names[0], names[1]);
    }
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "many", test_many_requests_in_one_packet_are_all_answered },
        { "all the room", test_body_may_be_as_large_as_the_room_of_all },
        { "end begun", test_request_that_begins_at_the_end_does_not_hold_it_up },
        { "kept place", test_request_in_the_socket_keeps_its_place },
        { "half place", test_half_request_gives_up_its_place },
        { "beyond", test_clients_beyond_the_places_are_answered },
        { "guest", test_guest_takes_a_place_that_is_free },
        { "old half", test_old_half_request_ends_for_others },
        { "body place", test_body_on_its_way_keeps_its_place },
        { "served", test_client_that_was_served_is_not_closed_at_once },
        { "swap", test_client_that_was_served_swaps_no_place_while_others_wait },
        { "shortage", test_shortage_is_no_address_in_use },
        { "half end", test_half_request_does_not_hold_up_the_end },
        { "half bodies", test_half_bodies_leave_room_for_others },
        { "half at the end", test_half_request_is_answered_at_the_end },
        { "names", test_names_of_addresses },
        CU_TEST_INFO_NULL,
    };

    return suite_run("http places", tests);
}
