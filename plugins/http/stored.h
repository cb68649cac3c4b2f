/* SPDX-License-Identifier: MIT */
/*
 * stored.h - `mode: stored`: a request is answered when its message has ended, with all that joined
 * it, and not by a reply.
 *
 * The server is the origin of the message. A message outlives its client and its answer: what ends
 * after a 504 changes nothing any more.
 */
#ifndef STORED_H
#define STORED_H

#include "exchange.h"

/* Sends the message, which it takes over in any case, and answers when it has ended. */
void stored_send(struct exchange *exchange, weir_pid to, struct weir_message *message);

/* The callback `settled`. */
void stored_settled(struct server *server, const struct weir_outcome *outcome);

/* The exchange waits for no outcome any more. It may not have waited for one. */
void stored_forget(struct exchange *exchange);

#endif
