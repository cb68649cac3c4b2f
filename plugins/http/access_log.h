/* SPDX-License-Identifier: MIT */
/*
 * access_log.h - one line for each request, in a file that logrotate may rename.
 */
#ifndef ACCESS_LOG_H
#define ACCESS_LOG_H

#include "exchange.h"

/* Opens the file of the options, or opens it again. -1: there is none, or it cannot be opened, with
 * errno. */
int access_log_open(const struct server *server);

/* Writes `TIME PEER "METHOD URI" STATUS BYTES MS`. The status 499 is a client that left. */
void access_log_write(const struct server *server, const struct exchange *exchange);

#endif
