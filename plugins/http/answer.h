/*
 * answer.h - the answers of a server.
 */
#ifndef ANSWER_H
#define ANSWER_H

#include "exchange.h"

/* Makes the answer with this status and a line of text, which it copies. 503 gets Retry-After.
 * False: memory is out, and the library closes the connection. */
bool answer_text(struct exchange *exchange, unsigned status, const char *text);

/* Makes the answer that fits the end of a request. */
bool answer_reply(struct exchange *exchange, const struct weir_reply *reply);

/* Makes the answer for a request or message that the pool did not take, with a status of
 * weir_send. */
bool answer_refusal(struct exchange *exchange, int status);

#endif
