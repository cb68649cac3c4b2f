/* SPDX-License-Identifier: MIT */
#include "http_peer.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../host/suite.h"

extern const struct weir_plugin weir_plugin_v1;

/* --- the server ------------------------------------------------------------------------------- */

int peer_listener;
unsigned peer_port;
char peer_asked[16384];

void peer_listen(void)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof address;

    peer_listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    CU_ASSERT_EQUAL_FATAL(bind(peer_listener, (struct sockaddr *)&address, size), 0);
    CU_ASSERT_EQUAL_FATAL(listen(peer_listener, 8), 0);
    CU_ASSERT_EQUAL_FATAL(getsockname(peer_listener, (struct sockaddr *)&address, &size), 0);
    peer_port = ntohs(address.sin_port);
}

void peer_turn(struct weir_kit *kit)
{
    (void)weir_kit_poll(kit);
    weir_kit_advance(kit, 1);
}

int peer_accept(struct weir_kit *kit)
{
    int client;

    while ((client = accept4(peer_listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) < 0)
        peer_turn(kit);
    return client;
}

void peer_drop_clients(void)
{
    int client;

    while ((client = accept4(peer_listener, NULL, NULL, SOCK_CLOEXEC)) >= 0)
        (void)close(client);
}

void peer_read_until(struct weir_kit *kit, int client, const char *end)
{
    size_t size = 0;
    ssize_t got;

    memset(peer_asked, 0, sizeof peer_asked);
    while (!strstr(peer_asked, end)) {
        got = recv(client, peer_asked + size, sizeof peer_asked - 1 - size, 0);
        CU_ASSERT_NOT_EQUAL_FATAL(got, 0);
        if (got > 0)
            size += (size_t)got;
        peer_turn(kit);
    }
}

void peer_answer(int client, const char *answer)
{
    CU_ASSERT_EQUAL(send(client, answer, strlen(answer), MSG_NOSIGNAL), (ssize_t)strlen(answer));
    (void)close(client);
}

void peer_serve(struct weir_kit *kit, const char *answer)
{
    int client = peer_accept(kit);

    peer_read_until(kit, client, "\r\n\r\n");
    peer_answer(client, answer);
}

/* --- the client ------------------------------------------------------------------------------- */

struct weir_kit *peer_open(const char *more)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "client");

    CU_ASSERT_PTR_NOT_NULL_FATAL(kit);
    peer_listen();
    CU_ASSERT_EQUAL_FATAL(weir_kit_open_format(kit,
                                               "url: \"http://127.0.0.1:%u/a?b={payload}\"\n%s",
                                               peer_port, more),
                          0);
    return kit;
}

void peer_finish(struct weir_kit *kit)
{
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
    (void)close(peer_listener);
}

void peer_settled(struct weir_kit *kit, enum weir_verdict verdict, size_t count)
{
    while (weir_kit_kept_count(kit) > 0)
        peer_turn(kit);
    CU_ASSERT_EQUAL(weir_kit_settled_count(kit, verdict), count);
}

void peer_hand_over(struct weir_kit *kit, const char *text)
{
    CU_ASSERT_EQUAL(weir_kit_handle(kit, "any/1", text, strlen(text)), WEIR_KEEP);
}

void peer_expect_text(const struct weir_message *message, const char *tag, const char *text)
{
    CU_ASSERT_PTR_NOT_NULL_FATAL(message);
    CU_ASSERT_STRING_EQUAL(message->tag->name, tag);
    CU_ASSERT_EQUAL_FATAL(message->size, strlen(text));
    /* An empty message has no data. */
    CU_ASSERT_TRUE(message->size == 0 || memcmp(message->data, text, message->size) == 0);
}

void peer_expect(const char *more, const char *answer, enum weir_verdict verdict,
                 const char *reason)
{
    struct weir_kit *kit = peer_open(more);

    peer_hand_over(kit, "x");
    peer_serve(kit, answer);
    peer_settled(kit, verdict, 1);
    CU_ASSERT_STRING_EQUAL(weir_kit_reason(kit), reason);
    CU_ASSERT_PTR_NULL(weir_kit_emitted(kit, 0, 0));
    peer_finish(kit);
}
