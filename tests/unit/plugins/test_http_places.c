/*
 * Goal:   the places of http.server are given up by what the sockets say, all that came is
 *         answered, and a source that leaves waits for no half request.
 * Method: as in test_http_server.c.
 */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

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
    site_answer_and_keep(kit, client, 2);
    (void)close(client);
    site_answer_and_keep(kit, other, 3);
    (void)close(other);
    site_finish(kit);
}

/* Half a request has no right to its place. */
static void test_half_request_gives_up_its_place(void)
{
    struct weir_kit *kit = site_serve("connections: 1");
    int half = site_client("POST /p HTTP/1.1\r\n"), other;

    while (!strstr(weir_kit_inspect(kit, NULL), "connections=1\n"))
        site_run(kit);
    other = site_client(GET);
    while (weir_kit_sent_count(kit) == 0) {
        site_run(kit);
        weir_kit_advance(kit, 1);
    }
    CU_ASSERT_STRING_EQUAL(site_answer(kit, half), "");
    site_answer_and_keep(kit, other, 1);
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

int main(void)
{
    CU_TestInfo tests[] = {
        { "many", test_many_requests_in_one_packet_are_all_answered },
        { "all the room", test_body_may_be_as_large_as_the_room_of_all },
        { "end begun", test_request_that_begins_at_the_end_does_not_hold_it_up },
        { "kept place", test_request_in_the_socket_keeps_its_place },
        { "half place", test_half_request_gives_up_its_place },
        { "half end", test_half_request_does_not_hold_up_the_end },
        CU_TEST_INFO_NULL,
    };

    return suite_run("http places", tests);
}
