#include "connection.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "exchange.h"

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

/* For the life of the connection, since two system calls for each request would cost more. ENOMEM
 * and ENOSPC: the server does not learn that the client left, and the worker's result is not used.
 * */
static void watch_hangup(struct connection *connection)
{
    struct epoll_event event = { .events = EPOLLRDHUP | EPOLLET, .data.ptr = connection };

    (void)epoll_ctl(connection->server->hangups, EPOLL_CTL_ADD, connection->descriptor, &event);
}

static void begin(struct server *server, struct MHD_Connection *handle, void **context)
{
    struct connection *connection = calloc(1, sizeof *connection);
    const union MHD_ConnectionInfo *socket, *peer;

    *context = connection;
    if (!connection)
        return;
    socket = MHD_get_connection_info(handle, MHD_CONNECTION_INFO_CONNECTION_FD);
    peer = MHD_get_connection_info(handle, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    connection->server = server;
    connection->handle = handle;
    connection->descriptor = socket ? socket->connect_fd : -1;
    write_peer(connection, peer ? peer->client_addr : NULL);
    connection->next = server->first;
    if (server->first)
        server->first->previous = connection;
    server->first = connection;
    server->connection_count++;
    connection_enter(connection, CONNECTION_IDLE);
    watch_hangup(connection);
}

static void end(struct server *server, struct connection *connection)
{
    if (!connection)
        return;
    exchange_destroy(connection->exchange);
    /* The library has not closed the descriptor yet. A child of another thread's fork may have it,
     * too, until its exec. */
    (void)epoll_ctl(server->hangups, EPOLL_CTL_DEL, connection->descriptor, NULL);
    if (connection->previous)
        connection->previous->next = connection->next;
    else
        server->first = connection->next;
    if (connection->next)
        connection->next->previous = connection->previous;
    server->connection_count--;
    free(connection);
}

void connection_changed(void *server, struct MHD_Connection *handle, void **context,
                        enum MHD_ConnectionNotificationCode code)
{
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        begin(server, handle, context);
    } else {
        end(server, *context);
        *context = NULL;
    }
}

struct connection *connection_of(struct MHD_Connection *handle)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(
        handle, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

    return info ? info->socket_context : NULL;
}

static uint64_t time_of(const struct server_settings *settings, enum connection_phase phase)
{
    switch (phase) {
    case CONNECTION_IDLE:
        return settings->idle;
    case CONNECTION_RECEIVING:
        return settings->receive;
    case CONNECTION_ANSWERING:
        return settings->send;
    case CONNECTION_REQUESTING:
        break;
    }
    return UINT64_MAX;
}

void connection_enter(struct connection *connection, enum connection_phase phase)
{
    struct server *server = connection->server;
    uint64_t time = time_of(server->settings, phase);

    connection->phase = phase;
    connection->deadline_ms = time == UINT64_MAX ? time : weir_now_ms(server->self) + time;
}

void connection_cut(struct connection *connection)
{
    (void)shutdown(connection->descriptor, SHUT_RDWR);
    connection->deadline_ms = UINT64_MAX;
}

void connection_expire(struct server *server)
{
    uint64_t now = weir_now_ms(server->self);

    for (struct connection *c = server->first; c; c = c->next) {
        if (c->deadline_ms > now)
            continue;
        server->figures.expired++;
        connection_cut(c);
    }
}

bool connection_crowd_out(struct server *server)
{
    struct connection *oldest = NULL;

    for (struct connection *c = server->first; c; c = c->next)
        if (c->phase == CONNECTION_IDLE && c->deadline_ms != UINT64_MAX &&
            (!oldest || c->deadline_ms <= oldest->deadline_ms))
            oldest = c;
    if (!oldest)
        return false;
    server->figures.crowded_out++;
    connection_cut(oldest);
    return true;
}

void connection_shorten_idle(struct server *server, uint64_t grace_ms)
{
    uint64_t end = weir_now_ms(server->self) + grace_ms;

    for (struct connection *c = server->first; c; c = c->next)
        if (c->phase == CONNECTION_IDLE && c->deadline_ms != UINT64_MAX && c->deadline_ms > end)
            c->deadline_ms = end;
}
