/* SPDX-License-Identifier: MIT */
/*
 * exchange.h - one request of a client and its answer.
 *
 * The connection owns the exchange from the end of the head to the last byte of the answer. While
 * the pool has the request, nothing is read from the client.
 */
#ifndef EXCHANGE_H
#define EXCHANGE_H

#include "connection.h"

/* Of `mode: stored`: the message that the answer waits for. */
struct exchange_waiting {
    struct exchange *previous, *next; /* in the order of the tokens */
    uint64_t token;                   /* of the origin; 0: it does not wait */
    uint64_t deadline, again;         /* timers; 0 = none */
    weir_pid to;
    uint16_t attempt;
};

struct exchange {
    struct connection *connection;
    char *uri; /* owned; path and query, as the client sent them */
    char method[HTTP1_METHOD_MAX + 1];
    char *body; /* owned */
    size_t body_size, body_room;
    uint64_t progress_ms; /* when the last bytes of the body came */
    bool is_lost;         /* the client left */
    uint64_t reference;   /* of the request to the pool */
    struct exchange_waiting waiting;
    uint64_t start_ms;
    unsigned status;
    size_t answer_size; /* bytes of the body of the answer */
};

/* The head of a request is there: checks it, and may answer. */
void exchange_begin(struct connection *connection);

/* Bytes of the body; may answer with a refusal. Borrows. */
void exchange_add(struct exchange *exchange, const char *data, size_t size);

/* The request is whole: gives it to the pool, or answers. */
void exchange_dispatch(struct exchange *exchange);

/* Answers with a refusal, behind which the connection ends. There may be no exchange yet. */
void exchange_refuse(struct connection *connection, unsigned status, const char *words);

/* A half request whose time is over: 408, or 503 when the server ends. */
void exchange_expire(struct exchange *exchange);

/* A half request whose memory others need: 503. */
void exchange_give_up_body(struct exchange *exchange);

/* Answers with what a status of weir_send means. */
void exchange_refuse_by_pool(struct exchange *exchange, int status);

/* The pool has the request no more. True: it is to be answered. False: the client has left, and the
 * exchange is ended. */
bool exchange_return(struct exchange *exchange);

/* The client left while the pool has the request: cancels it, unless the mode is `stored`. */
void exchange_lose(struct exchange *exchange);

/* Answers with 503 while the pool has the request: the server ends. */
void exchange_abandon(struct exchange *exchange);

/* The answer is sent, or not: writes the access log, and frees the exchange. */
void exchange_end(struct exchange *exchange, bool is_sent);

#endif
