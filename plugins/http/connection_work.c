/* SPDX-License-Identifier: MIT */
#include "connection_work.h"

#include <sys/epoll.h>

#include "connection_input.h"
#include "connection_output.h"
#include "exchange.h"

#define STEPS_MAX 256u /* of one connection in a turn: some MB of a body */

static enum http1_result read_body(struct connection *connection)
{
    struct receipt *receipt = connection->receipt;

    while (receipt->body.result == HTTP1_MORE && receipt->taken < receipt->size &&
           connection->phase == CONNECTION_RECEIVING) {
        struct http1_piece piece;

        (void)http1_body_read(&receipt->body, receipt->text + receipt->taken,
                              receipt->size - receipt->taken, &piece);
        receipt->taken += piece.used;
        if (piece.size > 0)
            exchange_add(connection->exchange, piece.data, piece.size);
    }
    if (receipt->taken == receipt->size) /* the text of the head stays */
        receipt->taken = receipt->size = receipt->head.size;
    return receipt->body.result;
}

/* The request is read on. False: more bytes are needed, or it is with the pool. */
static bool receive(struct connection *connection)
{
    struct receipt *receipt = connection->receipt;
    enum http1_result result = receipt->head.reading.result;

    if (result == HTTP1_MORE) {
        result = http1_head_read(&receipt->head, receipt->text, receipt->size);
        if (result == HTTP1_MORE)
            return connection_fill(connection);
        if (result != HTTP1_DONE) {
            exchange_refuse(connection, http1_status(result), http1_words(result));
            return true;
        }
        receipt->taken = receipt->head.size;
        http1_body_init(&receipt->body, &receipt->head);
        exchange_begin(connection);
        return true;
    }
    result = read_body(connection);
    if (connection->phase != CONNECTION_RECEIVING)
        return true;
    if (result == HTTP1_MORE)
        return connection_fill(connection);
    if (result == HTTP1_DONE)
        exchange_dispatch(connection->exchange);
    else
        exchange_refuse(connection, http1_status(result), http1_words(result));
    return true;
}

/* Reads and drops. */
static bool linger(struct connection *connection)
{
    char bytes[4096];

    connection_free_receipt(connection);
    return connection->is_readable && connection_get(connection, bytes, sizeof bytes) > 0;
}

/* Others have their turn. The bytes may have all left the socket, and be held here or by the TLS
 * session: so the set is to report that the socket takes bytes. */
static void report_again(struct connection *connection)
{
    connection->watches_output = false;
    connection_watch_output(connection, true);
}

/* One step; false: there is nothing to do now. */
static bool step(struct connection *connection)
{
    switch (connection->phase) {
    case CONNECTION_IDLE:
        connection_begin_next(connection);
        if (!connection->receipt && !connection_fill(connection)) {
            connection_free_receipt(connection);
            return false;
        }
        connection_enter(connection, CONNECTION_RECEIVING);
        return true;
    case CONNECTION_RECEIVING:
        return receive(connection);
    case CONNECTION_LINGERING:
        return linger(connection);
    case CONNECTION_REQUESTING:
    case CONNECTION_ANSWERING:
        break;
    }
    return false;
}

void connection_work(struct connection *connection)
{
    unsigned steps = 0;

    while (connection->descriptor >= 0 && !connection->has_left && step(connection))
        if (++steps == STEPS_MAX) {
            report_again(connection);
            return;
        }
    if (connection->hangs_up && connection->phase == CONNECTION_REQUESTING)
        connection->has_left = true;
    if (connection->has_left && connection->descriptor >= 0)
        connection_end(connection);
}

void connection_ready(struct connection *connection, uint32_t events)
{
    if (connection->descriptor < 0)
        return;
    connection->is_readable = true;
    connection->has_input = false;
    if (events & EPOLLPRI)
        connection->has_urgent = true;
    if (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR))
        connection->hangs_up = true;
    if (connection->phase != CONNECTION_ANSWERING)
        connection_watch_output(connection, false);
    else if (events & EPOLLOUT)
        connection_send_on(connection);
    connection_work(connection);
}
