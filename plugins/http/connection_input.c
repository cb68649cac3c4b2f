/* SPDX-License-Identifier: MIT */
#include "connection_input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "connection_output.h"
#include "tls.h"

#define ROOM_MIN ((size_t)4096)        /* most heads have less */
#define BODY_PIECE ((size_t)16 * 1024) /* room for a read behind a head */

void connection_free_receipt(struct connection *connection)
{
    free(connection->receipt);
    connection->receipt = NULL;
}

/* A short read has emptied the socket, unless it ended at an urgent byte, or is one of TLS. The end
 * of the input is no byte: it takes one more read. */
static bool is_emptied_by_short_read(const struct connection *connection)
{
    return !connection->session && !connection->has_urgent && !connection->hangs_up;
}

ssize_t connection_get(struct connection *connection, char *bytes, size_t size)
{
    bool wants_write = false;
    ssize_t got = connection->session ? tls_read(connection->session, bytes, size, &wants_write)
                                      : recv(connection->descriptor, bytes, size, 0);

    if (wants_write)
        connection_watch_output(connection, true);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
        connection->has_left = true;
    if (got <= 0 || (is_emptied_by_short_read(connection) && (size_t)got < size))
        connection->is_readable = got < 0 && errno == EINTR;
    return got;
}

/* Room for more bytes. False: memory is out. */
static bool make_room(struct connection *connection)
{
    struct receipt *receipt = connection->receipt;
    size_t room = receipt ? receipt->room : 0;

    if (receipt && room - receipt->size >= (receipt->head.size ? ROOM_MIN : 1))
        return true;
    room = room ? room + (room < BODY_PIECE ? room : BODY_PIECE) : ROOM_MIN;
    receipt = realloc(receipt, sizeof *receipt + room);
    if (!receipt)
        return false;
    if (!connection->receipt) {
        uint32_t max = (uint32_t)connection->server->settings->header_max;

        http1_request_init(&receipt->head, max, max);
        receipt->size = receipt->taken = 0;
    }
    receipt->room = room;
    connection->receipt = receipt;
    return true;
}

/* Reads more. False: nothing has come. */
bool connection_fill(struct connection *connection)
{
    struct receipt *receipt;
    ssize_t got;

    if (!connection->is_readable)
        return false;
    if (!make_room(connection)) {
        connection->has_left = true;
        return false;
    }
    receipt = connection->receipt;
    got = connection_get(connection, receipt->text + receipt->size, receipt->room - receipt->size);
    if (got > 0)
        receipt->size += (size_t)got;
    return got > 0;
}

/* Bytes of the next request move to the front. */
void connection_begin_next(struct connection *connection)
{
    struct receipt *receipt = connection->receipt;
    uint32_t max = (uint32_t)connection->server->settings->header_max;

    if (!receipt)
        return;
    if (receipt->taken == receipt->size) {
        connection_free_receipt(connection);
        return;
    }
    memmove(receipt->text, receipt->text + receipt->taken, receipt->size - receipt->taken);
    receipt->size -= receipt->taken;
    receipt->taken = 0;
    http1_request_init(&receipt->head, max, max);
}
