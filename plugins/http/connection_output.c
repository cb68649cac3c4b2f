/* SPDX-License-Identifier: MIT */
#include "connection_output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/uio.h>

#include "exchange.h"
#include "tls.h"

#define CONTINUE "HTTP/1.1 100 Continue\r\n\r\n"

void connection_watch_output(struct connection *connection, bool watches)
{
    struct epoll_event event = { .events = CONNECTION_EVENTS | (watches ? EPOLLOUT : 0u),
                                 .data.ptr = connection };

    if (connection->watches_output == watches)
        return;
    connection->watches_output = watches;
    (void)epoll_ctl(connection->server->poller, EPOLL_CTL_MOD, connection->descriptor, &event);
}

/* Bytes that the socket took of these two parts; -1 with errno. */
static ssize_t put(struct connection *connection, const char *head, size_t head_size,
                   const char *body, size_t body_size)
{
    struct iovec parts[] = { { .iov_base = (void *)(uintptr_t)head, .iov_len = head_size },
                             { .iov_base = (void *)(uintptr_t)body, .iov_len = body_size } };
    struct msghdr message = { .msg_iov = parts, .msg_iovlen = body_size ? 2 : 1 };

    if (connection->session)
        return head_size ? tls_write(connection->session, head, head_size)
                         : tls_write(connection->session, body, body_size);
    return sendmsg(connection->descriptor, &message, MSG_NOSIGNAL);
}

/* The answer is in the socket. */
static void finish_answer(struct connection *connection)
{
    bool closes = connection->closes || connection->server->is_leaving;

    free(connection->out);
    connection->out = NULL;
    connection->out_size = connection->out_sent = 0;
    connection_watch_output(connection, false);
    exchange_end(connection->exchange, true);
    connection->has_served = true;
    if (closes) {
        tls_end(connection->session);
        connection->session = NULL;
        (void)shutdown(connection->descriptor, SHUT_WR);
    }
    connection_enter(connection, closes ? CONNECTION_LINGERING : CONNECTION_IDLE);
    connection->is_readable = connection->is_readable || closes;
}

/* Sends on; true: all is sent. */
static bool flush(struct connection *connection)
{
    while (connection->out_sent < connection->out_size) {
        ssize_t sent = put(connection, connection->out + connection->out_sent,
                           connection->out_size - connection->out_sent, NULL, 0);

        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0) {
            connection->has_left = connection->has_left || errno != EAGAIN;
            connection_watch_output(connection, true);
            return false;
        }
        connection->out_sent += (size_t)sent;
    }
    return true;
}

size_t connection_unsent(const struct connection *connection, size_t size)
{
    size_t unsent = connection->out_size - connection->out_sent;

    return unsent < size ? unsent : size;
}

void connection_send_on(struct connection *connection)
{
    if (flush(connection))
        finish_answer(connection);
}

/* Copies what the socket did not take. False: memory is out. */
static bool keep(struct connection *connection, const char *head, size_t head_size,
                 const char *body, size_t body_size, size_t sent)
{
    size_t of_head = sent < head_size ? sent : head_size;
    size_t of_body = sent - of_head;

    connection->out_size = head_size - of_head + body_size - of_body;
    connection->out_sent = 0;
    connection->out = malloc(connection->out_size ? connection->out_size : 1);
    if (!connection->out)
        return false;
    memcpy(connection->out, head + of_head, head_size - of_head);
    if (body_size > of_body)
        memcpy(connection->out + (head_size - of_head), body + of_body, body_size - of_body);
    return true;
}

void connection_send(struct connection *connection, const char *head, size_t head_size,
                     const char *body, size_t body_size)
{
    ssize_t sent = 0;

    connection_enter(connection, CONNECTION_ANSWERING);
    if (!connection->session)
        sent = put(connection, head, head_size, body, body_size);
    if (sent == (ssize_t)(head_size + body_size)) {
        finish_answer(connection);
        return;
    }
    if (sent < 0 && errno != EAGAIN && errno != EINTR)
        connection->has_left = true;
    if (!keep(connection, head, head_size, body, body_size, sent < 0 ? 0 : (size_t)sent)) {
        connection->has_left = true;
        return;
    }
    connection_send_on(connection);
}

void connection_let_continue(struct connection *connection)
{
    ssize_t size = sizeof CONTINUE - 1;

    /* The client does not read its earlier answers: no half line stands before the next one. */
    if (put(connection, CONTINUE, (size_t)size, NULL, 0) != size)
        connection->has_left = true;
}
