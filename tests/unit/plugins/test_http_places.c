/*
 * Goal:   the places of http.server are given up by what the sockets say, and a source that leaves
 *         waits for no half request.
 * Method: as in test_http_server.c.
 */
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

int main(void)
{
    CU_TestInfo tests[] = {
        { "kept place", test_request_in_the_socket_keeps_its_place },
        { "half place", test_half_request_gives_up_its_place },
        { "half end", test_half_request_does_not_hold_up_the_end },
        CU_TEST_INFO_NULL,
    };

    return suite_run("http places", tests);
}
