/* SPDX-License-Identifier: MIT */
/*
 * Goal:   http.server under siege: who hangs up is noticed in every phase, at once; a request that
 *         lies in its socket is not closed by a deadline; an answer of any size reaches a client
 *         that reads slowly.
 * Method: as in test_http_server.c. A client that is noticed at once leaves long before the first
 *         deadline, which is 2 s.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../host/suite.h"
#include "http_site.h"

#define MIB ((size_t)1 << 20)
#define NOTICED_MS 500u

/* True: the server has no connection any more. */
static bool is_gone(struct weir_kit *kit)
{
    for (unsigned i = 0; i < NOTICED_MS; i++) {
        if (strstr(weir_kit_inspect(kit, NULL), "connections=0\n"))
            return true;
        site_run(kit);
        weir_kit_advance(kit, 1);
    }
    return false;
}

static void answer_with(struct weir_kit *kit, size_t number, size_t size)
{
    char *text = malloc(size);

    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    memset(text, 'x', size);
    CU_ASSERT_EQUAL(weir_kit_answer(kit, site_sent(kit, number)->reference, 0, "any/1", text, size),
                    0);
    free(text);
}

static void wait_for_connection(struct weir_kit *kit)
{
    while (!strstr(weir_kit_inspect(kit, NULL), "connections=1\n"))
        site_run(kit);
    site_run(kit);
}

static void test_client_that_hangs_up_is_noticed_in_every_phase(void)
{
    static const struct {
        const char *request;
        size_t answer; /* bytes of the pool's answer; 0: there is none */
        bool is_sent;  /* the pool gets the request */
    } rows[] = {
        { "", 0, false },  /* it has said nothing */
        { "G", 0, false }, /* half a line */
        { "GET / HTTP/1.1\r\n", 0, false },
        { "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc", 0, false },
        { "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n9\r\na", 0, false },
        { GET, 0, true },                 /* the pool has it */
        { GET, 3, true },                 /* idle, behind an answer */
        { GET "GET", 3, true },           /* half of the next one */
        { GET, 8 * MIB, true },           /* it does not take its answer */
        { "nonsense\r\n\r\n", 0, false }, /* refused: the server waits for its end */
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (unsigned resets = 0; resets < 2; resets++) {
            struct weir_kit *kit = site_serve("");
            int client = site_client(rows[i].request);

            wait_for_connection(kit);
            if (rows[i].is_sent)
                (void)site_sent(kit, 1);
            if (rows[i].answer)
                answer_with(kit, 1, rows[i].answer);
            site_run(kit);
            /* Unread bytes make the end a reset. */
            while (!resets && recv(client, &(char){ 0 }, 1, MSG_DONTWAIT) > 0)
                ;
            (void)close(client);
            CU_ASSERT_TRUE(is_gone(kit));
            site_finish(kit);
        }
}

static void test_guest_that_hangs_up_is_noticed(void)
{
    struct weir_kit *kit = site_serve("connections: 1");
    int client = site_client(GET), guest;

    (void)site_sent(kit, 1);
    guest = site_client("GET / HTTP/1.1\r\n");
    while (!strstr(weir_kit_inspect(kit, NULL), "guests=1\n"))
        site_run(kit);
    (void)close(guest);
    (void)close(client);
    CU_ASSERT_TRUE(is_gone(kit));
    site_finish(kit);
}

/* The host had no time for the source until the deadline was over. */
static void test_request_in_the_socket_is_not_closed_by_the_deadline(void)
{
    struct weir_kit *kit = site_serve("idle: 100ms");
    int client = site_client("");

    wait_for_connection(kit);
    for (size_t number = 1; number <= 2; number++) { /* new, and behind an answer */
        CU_ASSERT_EQUAL(send(client, GET, strlen(GET), MSG_NOSIGNAL), (ssize_t)strlen(GET));
        weir_kit_advance(kit, 300);
        site_answer_and_keep(kit, client, number);
    }
    weir_kit_advance(kit, 300);
    CU_ASSERT_STRING_EQUAL(site_answer(kit, client), "");
    site_finish(kit);
}

/* 1 GiB takes the same way, and 2 GiB of memory. */
static void test_large_answer_reaches_a_slow_reader(void)
{
    static char piece[65536];
    size_t size = 64 * MIB, got = 0, wrong = 0;
    struct weir_kit *kit = site_serve("");
    int client = site_client("GET / HTTP/1.0\r\n\r\n"); /* the end is that of the connection */
    ssize_t some;

    answer_with(kit, 1, size);
    while ((some = recv(client, piece, sizeof piece, MSG_DONTWAIT)) != 0) {
        site_run(kit);
        for (ssize_t i = 0; i < some; i++)
            wrong += got + (size_t)i > 300 && piece[i] != 'x';
        got += some > 0 ? (size_t)some : 0;
    }
    CU_ASSERT_TRUE(got > size);
    CU_ASSERT_TRUE(got < size + 300);
    CU_ASSERT_EQUAL(wrong, 0);
    (void)close(client);
    site_finish(kit);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "hang-up", test_client_that_hangs_up_is_noticed_in_every_phase },
        { "guest", test_guest_that_hangs_up_is_noticed },
        { "deadline", test_request_in_the_socket_is_not_closed_by_the_deadline },
        { "large", test_large_answer_reaches_a_slow_reader },
        CU_TEST_INFO_NULL,
    };

    return suite_run("http siege", tests);
}
