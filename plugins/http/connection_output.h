/* SPDX-License-Identifier: MIT */
/*
 * connection_output.h - the bytes that a connection sends.
 */
#ifndef CONNECTION_OUTPUT_H
#define CONNECTION_OUTPUT_H

#include "connection.h"

/* Sends an answer, and enters ANSWERING. Copies what the socket does not take. The caller calls
 * connection_work next, unless it is called by it. */
void connection_send(struct connection *connection, const char *head, size_t head_size,
                     const char *body, size_t body_size);

/* Sends `100 Continue`. */
void connection_let_continue(struct connection *connection);

/* The socket takes bytes again: sends what is left. */
void connection_send_on(struct connection *connection);

/* Whether the set reports that the socket takes bytes. */
void connection_watch_output(struct connection *connection, bool watches);

/* How many of the last `size` bytes of the answer the socket has not taken. */
size_t connection_unsent(const struct connection *connection, size_t size);

#endif
