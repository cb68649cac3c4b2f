#include "connection.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "connection_input.h"
#include "exchange.h"
#include "tls.h"

#define LINGER_MS 2000u

/* --- life ------------------------------------------------------------------------------------- */

static void write_peer(struct connection *connection, const struct sockaddr *address)
{
    const struct sockaddr_in *four = (const struct sockaddr_in *)(const void *)address;
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)(const void *)address;
    const char *text = NULL;

    if (address && address->sa_family == AF_INET)
        text = inet_ntop(AF_INET, &four->sin_addr, connection->peer, sizeof connection->peer);
    else if (address && address->sa_family == AF_INET6)
        text = inet_ntop(AF_INET6, &six->sin6_addr, connection->peer, sizeof connection->peer);
    if (!text)
        (void)snprintf(connection->peer, sizeof connection->peer, "unix");
}

/* False: descriptors of the set, or memory, are out. */
static bool join_set(struct connection *connection, const struct sockaddr *peer)
{
    struct server *server = connection->server;
    struct epoll_event event = { .events = CONNECTION_EVENTS, .data.ptr = connection };
    int on = 1;

    if (server->tls && !(connection->session = tls_begin(server->tls, connection->descriptor)))
        return false;
    if (peer->sa_family != AF_UNIX)
        (void)setsockopt(connection->descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return epoll_ctl(server->poller, EPOLL_CTL_ADD, connection->descriptor, &event) == 0;
}

void connection_begin(struct server *server, int descriptor, const struct sockaddr *peer)
{
    struct connection *connection = calloc(1, sizeof *connection);

    if (!connection) {
        (void)close(descriptor);
        return;
    }
    connection->server = server;
    connection->descriptor = descriptor;
    if (!join_set(connection, peer)) {
        tls_end(connection->session);
        free(connection);
        (void)close(descriptor);
        return;
    }
    write_peer(connection, peer);
    connection->next = server->first;
    if (server->first)
        server->first->previous = connection;
    server->first = connection;
    server->connection_count++;
    connection_enter(connection, CONNECTION_IDLE);
}

static void drop(struct connection *connection)
{
    struct server *server = connection->server;

    if (connection->previous)
        connection->previous->next = connection->next;
    else
        server->first = connection->next;
    if (connection->next)
        connection->next->previous = connection->previous;
    server->connection_count--;
    connection->next = server->ended;
    server->ended = connection;
}

void connection_end(struct connection *connection)
{
    if (connection->descriptor >= 0) {
        tls_end(connection->session);
        connection->session = NULL;
        (void)epoll_ctl(connection->server->poller, EPOLL_CTL_DEL, connection->descriptor, NULL);
        (void)close(connection->descriptor);
        connection->descriptor = -1;
        connection->deadline_ms = UINT64_MAX;
    }
    if (connection->phase == CONNECTION_REQUESTING && connection->exchange) {
        exchange_lose(connection->exchange);
        return;
    }
    if (connection->exchange)
        exchange_end(connection->exchange, false);
    connection_free_receipt(connection);
    free(connection->out);
    connection->out = NULL;
    drop(connection);
}

void connection_sweep(struct server *server)
{
    while (server->ended) {
        struct connection *connection = server->ended;

        server->ended = connection->next;
        free(connection);
    }
}

/* --- phases ----------------------------------------------------------------------------------- */

static uint64_t time_of(const struct server_settings *settings, enum connection_phase phase)
{
    switch (phase) {
    case CONNECTION_IDLE:
        return settings->idle;
    case CONNECTION_RECEIVING:
        return settings->receive;
    case CONNECTION_ANSWERING:
        return settings->send;
    case CONNECTION_LINGERING:
        return LINGER_MS;
    case CONNECTION_REQUESTING:
        break;
    }
    return UINT64_MAX;
}

void connection_enter(struct connection *connection, enum connection_phase phase)
{
    struct server *server = connection->server;
    uint64_t time = time_of(server->settings, phase), now = weir_now_ms(server->self);
    uint64_t deadline = time == UINT64_MAX ? time : now + time;

    /* A source that leaves has given the connection less already. */
    if (phase == CONNECTION_RECEIVING && server->is_leaving && connection->deadline_ms < deadline)
        deadline = connection->deadline_ms;
    connection->phase = phase;
    connection->since_ms = now;
    connection->deadline_ms = deadline;
}
