/* SPDX-License-Identifier: MIT */
/*
 * connection_work.h - the way of a connection through its phases.
 */
#ifndef CONNECTION_WORK_H
#define CONNECTION_WORK_H

#include "connection.h"

/* The set has reported these events. */
void connection_ready(struct connection *connection, uint32_t events);

/* Reads and handles what there is. The connection may be gone then. */
void connection_work(struct connection *connection);

#endif
