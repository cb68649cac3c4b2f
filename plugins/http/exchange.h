/*
 * exchange.h - one request of a client and its answer.
 *
 * The library owns the exchange from the request line to the last byte of the answer. While the
 * pool has the request, the library's connection is suspended.
 */
#ifndef EXCHANGE_H
#define EXCHANGE_H

#include "connection.h"

enum exchange_stage {
    EXCHANGE_NEW = 0,
    EXCHANGE_BODY = 1,
    EXCHANGE_REQUESTING = 2,
    EXCHANGE_READY = 3, /* the answer is there */
};

struct exchange {
    struct connection *connection;
    enum exchange_stage stage;
    const char *method; /* the library's */
    char *uri;          /* owned; as the client sent it */
    char *body;         /* owned */
    size_t body_size, body_room;
    unsigned body_refusal; /* 0, or the status for a body that is read, and not kept */
    bool is_lost;          /* the client left */
    uint64_t reference;    /* of the request to the pool */
    uint64_t start_ms;
    unsigned status;
    size_t answer_size;            /* bytes */
    struct MHD_Response *response; /* owned; NULL = not ready */
};

/* The library's callbacks: for a request line, for the parts of a request, and for its end. */
void *exchange_begin(void *server, const char *uri, struct MHD_Connection *handle);
enum MHD_Result exchange_receive(void *server, struct MHD_Connection *handle, const char *url,
                                 const char *method, const char *version, const char *data,
                                 size_t *size, void **context);
void exchange_end(void *server, struct MHD_Connection *handle, void **context,
                  enum MHD_RequestTerminationCode code);

/* The client left: cancels the request. */
void exchange_lose(struct exchange *exchange);

/* Answers with 503 while the pool has the request: the server ends. */
void exchange_abandon(struct exchange *exchange);

/* Frees it. NULL is legal. */
void exchange_destroy(struct exchange *exchange);

#endif
