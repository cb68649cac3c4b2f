/* SPDX-License-Identifier: MIT */
/*
 * answer.h - the answers of a server: head and body, given to the connection.
 */
#ifndef ANSWER_H
#define ANSWER_H

#include "exchange.h"

/* Answers with this status and a line of text. 503 gets Retry-After. */
void answer_text(struct exchange *exchange, unsigned status, const char *words);

/* Answers as it fits the end of a request. */
void answer_reply(struct exchange *exchange, const struct weir_reply *reply);

/* Answers a request or message that the pool did not take, with a status of weir_send. */
void answer_refusal(struct exchange *exchange, int status);

#endif
