/* SPDX-License-Identifier: MIT */
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
#include "places.h"
#include "tls.h"

#define LINGER_MS 2000u
#define LINGER_LEAVING_MS 500u

/* --- lists ------------------------------------------------------------------------------------ */

static enum server_list list_of(const struct connection *connection, enum connection_phase phase)
{
    if (connection->is_guest)
        return SERVER_GUESTS;
    switch (phase) {
    case CONNECTION_IDLE:
        return connection->has_served ? SERVER_SERVED : SERVER_NEW;
    case CONNECTION_RECEIVING:
        return SERVER_RECEIVING;
    case CONNECTION_LINGERING:
        return SERVER_LINGERING;
    case CONNECTION_REQUESTING:
    case CONNECTION_ANSWERING:
        break;
    }
    return SERVER_BUSY;
}

static void append(struct connection *connection, enum server_list list)
{
    struct server_connections *to = &connection->server->lists[list];

    connection->list = list;
    connection->next = NULL;
    connection->previous = to->last;
    if (to->last)
        to->last->next = connection;
    else
        to->first = connection;
    to->last = connection;
}

static void detach(const struct connection *connection)
{
    struct server_connections *from = &connection->server->lists[connection->list];

    if (connection->previous)
        connection->previous->next = connection->next;
    else
        from->first = connection->next;
    if (connection->next)
        connection->next->previous = connection->previous;
    else
        from->last = connection->previous;
}

static bool has_place(const struct server *server)
{
    return server->connection_count - server->guest_count < server->places;
}

static void set_guest(struct connection *connection, bool is_guest)
{
    detach(connection);
    connection->is_guest = is_guest;
    append(connection, list_of(connection, connection->phase));
}

/* Clients that were served and never pause would swap places for ever, while others wait. */
static bool may_swap(const struct connection *connection)
{
    return !connection->has_served || !places_have_waiting(connection->server);
}

bool connection_take_place(struct connection *connection)
{
    struct server *server = connection->server;
    struct connection *other = NULL;

    if (!connection->is_guest)
        return true;
    if (has_place(server))
        server->guest_count--;
    else if (may_swap(connection) && (other = places_find_silent(server)))
        set_guest(other, true);
    else
        return false;
    set_guest(connection, false);
    return true;
}

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
    connection->is_guest = !has_place(server);
    server->connection_count++;
    server->guest_count += connection->is_guest;
    append(connection, list_of(connection, CONNECTION_IDLE));
    connection_enter(connection, CONNECTION_IDLE);
}

static void drop(struct connection *connection)
{
    struct server *server = connection->server;

    detach(connection);
    server->connection_count--;
    server->guest_count -= connection->is_guest;
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

static uint64_t time_of(const struct server *server, enum connection_phase phase)
{
    const struct server_settings *settings = server->settings;

    switch (phase) {
    case CONNECTION_IDLE:
        return settings->idle;
    case CONNECTION_RECEIVING:
        return settings->receive;
    case CONNECTION_ANSWERING:
        return settings->send;
    case CONNECTION_LINGERING:
        return server->is_leaving ? LINGER_LEAVING_MS : LINGER_MS;
    case CONNECTION_REQUESTING:
        break;
    }
    return UINT64_MAX;
}

void connection_enter(struct connection *connection, enum connection_phase phase)
{
    struct server *server = connection->server;
    uint64_t time = time_of(server, phase), now = weir_now_ms(server->self);
    uint64_t deadline = time == UINT64_MAX ? time : now + time;

    /* A source that leaves has given the connection less already. */
    if (phase == CONNECTION_RECEIVING && server->is_leaving && connection->deadline_ms < deadline)
        deadline = connection->deadline_ms;
    detach(connection);
    append(connection, list_of(connection, phase));
    connection->phase = phase;
    connection->since_ms = now;
    connection->deadline_ms = deadline;
}
