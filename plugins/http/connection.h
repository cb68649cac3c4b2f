/* SPDX-License-Identifier: MIT */
/*
 * connection.h - the connections of a server: bytes in, bytes out, one deadline each.
 *
 *     IDLE --first byte--> RECEIVING --whole--> REQUESTING --reply--> ANSWERING --sent--> IDLE
 *                                                                         |
 *                                                                         +--> LINGERING
 *
 * A request that is refused goes from RECEIVING to ANSWERING. The deadline of REQUESTING is the
 * time-out of the request; places_expire looks after the others. LINGERING: the server has sent
 * its last byte and reads until the client ends the connection, so that bytes that come late do not
 * destroy the answer.
 *
 * A connection beyond the places is a guest. It gets one answer: that of the health path, or 503.
 * When the head of its request is there, it takes a place that is free, or changes places with a
 * connection that says nothing; one that has been served before does the latter only while no
 * client waits to be accepted.
 *
 * Sockets are in an edge-triggered set. `is_readable` says that the socket may have bytes, until a
 * read shows that it has none.
 */
#ifndef CONNECTION_H
#define CONNECTION_H

#include <openssl/types.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "server.h"
#include "wire/http1_body.h"
#include "wire/http1_head.h"

enum connection_phase {
    CONNECTION_IDLE = 0,
    CONNECTION_RECEIVING = 1,
    CONNECTION_REQUESTING = 2,
    CONNECTION_ANSWERING = 3,
    CONNECTION_LINGERING = 4,
};

/* A request while it is received. */
struct receipt {
    struct http1_head head;
    struct http1_body body;
    size_t taken; /* bytes of `text` that are read; the head stays in front */
    size_t size, room;
    char text[];
};

/* What the set reports always. */
#define CONNECTION_EVENTS (EPOLLIN | EPOLLPRI | EPOLLRDHUP | EPOLLET)

struct connection {
    struct connection *previous, *next;
    struct server *server;
    SSL *session;              /* owned; NULL: without TLS */
    struct receipt *receipt;   /* owned; NULL: nothing has come */
    struct exchange *exchange; /* the present request; NULL = none */
    char *out;                 /* owned: what the socket did not take at once */
    size_t out_size, out_sent;
    enum server_list list;
    bool is_guest;
    int descriptor; /* -1: closed; freed when the pool has answered */
    enum connection_phase phase;
    bool is_readable;
    bool has_input;      /* seen in the socket, though not reported by the set yet */
    bool has_urgent;     /* a byte has come out of band, at which reads end */
    bool hangs_up;       /* the set has reported the end of the input */
    bool has_left;       /* nobody waits for more bytes of ours */
    bool closes;         /* behind the present answer */
    bool watches_output; /* the set reports that the socket takes bytes */
    bool has_served;     /* it has sent an answer */
    uint64_t since_ms;   /* when it entered its phase */
    uint64_t deadline_ms;
    char peer[64]; /* for the access log */
};

/* Takes the socket. */
void connection_begin(struct server *server, int descriptor, const struct sockaddr *peer);

/* A guest whose request is there takes a place: a free one, or that of a silent connection, which
 * becomes a guest. True: it has one. */
bool connection_take_place(struct connection *connection);

/* Enters a phase and sets its deadline. */
void connection_enter(struct connection *connection, enum connection_phase phase);

/* Closes the socket. A connection whose request the pool has is freed with its reply. */
void connection_end(struct connection *connection);

/* Frees those that were ended. No connection may be in use. */
void connection_sweep(struct server *server);

#endif
