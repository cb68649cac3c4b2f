/* SPDX-License-Identifier: MIT */
/*
 * Goal:   http.server makes of each request what the RFCs say: a refused one gets a whole answer,
 *         reaches no pool, and ends its connection. Shows promise B16.
 * Method: the plugin in the test kit, one client at a Unix socket for each row of http1_table.c, of
 *         which those for smaller bounds of sizes are left out.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <weir/testkit.h>

#include "../host/suite.h"
#include "../wire/http1_table.h"
#include "scratch.h"

extern const struct weir_plugin weir_plugin_v1;

static struct scratch scratch;
static struct sockaddr_un address = { .sun_family = AF_UNIX };

static struct weir_kit *serve(void)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "server");
    const char *path;

    CU_ASSERT_PTR_NOT_NULL_FATAL(kit);
    scratch_init(&scratch);
    path = scratch_write(&scratch, "web", "");
    (void)unlink(path);
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    CU_ASSERT_EQUAL_FATAL(weir_kit_open_format(kit, "listen: \"unix:%s\"\nheader_max: %u", path,
                                               HTTP1_TABLE_HEAD_MAX),
                          0);
    CU_ASSERT_EQUAL(weir_kit_produce(kit, 1), WEIR_WAIT);
    return kit;
}

static void run(struct weir_kit *kit)
{
    (void)weir_kit_poll(kit);
    (void)weir_kit_produce(kit, 1);
}

static int client_of(const char *request, size_t size)
{
    int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    CU_ASSERT_EQUAL_FATAL(connect(client, (struct sockaddr *)&address, sizeof address), 0);
    CU_ASSERT_EQUAL(send(client, request, size, MSG_NOSIGNAL), (ssize_t)size);
    return client;
}

/* All that comes until the server ends the connection; static. */
static const char *hear_all(struct weir_kit *kit, int client)
{
    static char text[8192];
    size_t size = 0;
    ssize_t got;

    do {
        got = recv(client, text + size, sizeof text - 1 - size, MSG_DONTWAIT);
        if (got > 0)
            size += (size_t)got;
        else
            run(kit);
    } while (got != 0 && size < sizeof text - 1);
    text[size] = '\0';
    return text;
}

/* The first line of the message of a request that is accepted, as the table has it. */
static void first_line(const char *outcome, char *line, size_t size)
{
    (void)snprintf(line, size, "%.*s\n", (int)(strstr(outcome, " @") - outcome), outcome);
}

static void expect_refusal(struct weir_kit *kit, const struct http1_row *row)
{
    size_t sent = weir_kit_sent_count(kit);
    int client = client_of(row->request, row->size);
    const char *text = hear_all(kit, client);
    char line[32];

    (void)snprintf(line, sizeof line, "HTTP/1.1 %s ", row->outcome);
    if (strncmp(text, line, strlen(line)) != 0)
        (void)printf("\nRFC %s: %s\n  is %.20s\n", row->section, row->request, text);
    CU_ASSERT_EQUAL(strncmp(text, line, strlen(line)), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\r\nConnection: close\r\n"));
    CU_ASSERT_PTR_NULL(strstr(text, "\nHTTP/1.1 "));
    CU_ASSERT_EQUAL(weir_kit_sent_count(kit), sent);
    (void)close(client);
}

static void expect_message(struct weir_kit *kit, const struct http1_row *row)
{
    size_t sent = weir_kit_sent_count(kit);
    int client = client_of(row->request, row->size);
    const struct weir_kit_sent *request;
    char line[512], text[512];

    first_line(row->outcome, line, sizeof line);
    while (weir_kit_sent_count(kit) == sent)
        run(kit);
    request = weir_kit_sent(kit, sent);
    CU_ASSERT_EQUAL(strncmp(request->message->data, line, strlen(line)), 0);
    CU_ASSERT_EQUAL(weir_kit_answer(kit, request->reference, 0, "any/1", "yes", 3), 0);
    while (recv(client, text, sizeof text, MSG_DONTWAIT) < 0)
        run(kit);
    CU_ASSERT_EQUAL(strncmp(text, "HTTP/1.1 ", 9), 0);
    (void)close(client);
    while (!strstr(weir_kit_inspect(kit, NULL), "connections=0\n")) {
        run(kit);
        weir_kit_advance(kit, 1);
    }
}

/* Such a request does not depend on the bounds of the table, and is for a pool. */
static bool is_for_a_pool(const struct http1_row *row)
{
    size_t capitals = strspn(row->outcome, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");

    return row->outcome[capitals] == ' ' && row->outcome[capitals + 1] == '/';
}

static void test_requests_of_the_table_are_answered_or_refused(void)
{
    struct weir_kit *kit = serve();

    for (size_t i = 0; i < http1_table_count; i++) {
        const struct http1_row *row = &http1_table[i];

        if (row->outcome[0] >= '4' && row->outcome[0] <= '5' && strcmp(row->outcome, "414") != 0)
            expect_refusal(kit, row);
        else if (is_for_a_pool(row))
            expect_message(kit, row);
    }
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
    scratch_finish(&scratch);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "table", test_requests_of_the_table_are_answered_or_refused },
        CU_TEST_INFO_NULL,
    };

    return suite_run("http framing", tests);
}
