/* SPDX-License-Identifier: MIT */
/*
 * question.h - makes a message of a request: whether the server takes it, and which pool gets it.
 */
#ifndef QUESTION_H
#define QUESTION_H

#include "exchange.h"

/* True when the path is that of the health check. */
bool question_is_health(const struct server *server, const char *uri);

/* Checks the head of a request. Returns 0, or the HTTP status of the refusal and its reason, which
 * is static text. */
unsigned question_check(const struct server *server, const struct exchange *exchange,
                        const char **out_reason);

/* The reason for a body that is refused with 413 or 503. Static text. */
const char *question_body_reason(unsigned status);

/* The pool of the longest route whose path begins the URI; without one the pool behind `to`.
 * Returns 0 or a status of weir_lookup. */
int question_target(const struct server *server, const char *uri, weir_pid *out_pid);

/* The message of a whole request. Returns owned; NULL: memory is out. */
struct weir_message *question_create(const struct server *server, const struct exchange *exchange);

#endif
