/* SPDX-License-Identifier: MIT */
/*
 * connection_input.h - the bytes that a connection has received.
 */
#ifndef CONNECTION_INPUT_H
#define CONNECTION_INPUT_H

#include "connection.h"

/* As recv. Notes what the result says about the socket. */
ssize_t connection_get(struct connection *connection, char *bytes, size_t size);

/* Reads more into the receipt. False: nothing has come. */
bool connection_fill(struct connection *connection);

/* Bytes of the next request move to the front of the receipt; without any it is freed. */
void connection_begin_next(struct connection *connection);

void connection_free_receipt(struct connection *connection);

#endif
