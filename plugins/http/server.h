/* SPDX-License-Identifier: MIT */
/*
 * server.h - the state of a source http.server, and its options.
 *
 * One actor runs the whole server, so nothing here needs a lock. The sockets are in an epoll set,
 * which is watched; the actor works when one is ready.
 */
#ifndef SERVER_H
#define SERVER_H

#include <openssl/types.h>
#include <time.h>
#include <weir/plugin.h>

#define SERVER_OUTPUT 0u
#define SERVER_HEAD_MAX ((size_t)32 * 1024) /* of an answer */

enum server_mode { SERVER_REPLY = 0, SERVER_ACCEPT = 1, SERVER_STORED = 2 };
enum server_pass { SERVER_PASS_REQUEST = 0, SERVER_PASS_BODY = 1 };

struct server_settings {
    const char *listen;
    uint32_t mode; /* enum server_mode */
    uint32_t pass; /* enum server_pass */
    struct weir_map routes;
    struct weir_list headers;
    const char *content_type;
    uint64_t timeout, retry_after, idle, receive, send; /* milliseconds */
    uint32_t connections;
    uint64_t header_max, body_max, bodies_max; /* bytes */
    const char *token;
    const char *certificate, *key; /* paths of PEM files */
    const char *health;
    const char *access_log;
};

struct server_figures {
    uint64_t received;    /* received whole, or refused before */
    uint64_t refused;     /* answered with 503 */
    uint64_t cancelled;   /* the client left before the answer */
    uint64_t expired;     /* connections closed by a deadline */
    uint64_t crowded_out; /* connections that gave up their places for new ones */
};

/* What a connection is for its place; each list has the oldest in front. */
enum server_list {
    SERVER_LINGERING = 0,
    SERVER_SERVED = 1, /* idle, behind an answer */
    SERVER_NEW = 2,    /* idle, without a byte of a request yet */
    SERVER_RECEIVING = 3,
    SERVER_BUSY = 4,   /* it waits for its answer, or gets it */
    SERVER_GUESTS = 5, /* beyond the places, in any phase */
    SERVER_LISTS = 6,
};

struct server_connections {
    struct connection *first, *last;
};

struct server {
    struct weir_self *self; /* of the present callback */
    const struct server_settings *settings;
    const struct weir_tag *request_tag, *body_tag, *response_tag;
    SSL_CTX *tls; /* owned; NULL = without */
    int listener; /* owned; -1 = none */
    int poller;   /* owned: the set of the sockets of all connections */
    int access_log;
    struct server_connections lists[SERVER_LISTS];
    struct connection *ended;                    /* freed at the end of the turn */
    uint32_t connection_count, guest_count;      /* guests are in both */
    uint32_t places;                             /* fewer than `connections` after a shortage */
    uint64_t scarce_ms;                          /* when the log has the next shortage */
    uint64_t guests_ms;                          /* when the next ones may come */
    uint32_t open_requests;                      /* requests without an answer yet */
    struct exchange *first_stored, *last_stored; /* wait for the ends of their messages */
    uint64_t last_token;
    uint64_t body_bytes; /* of all requests */
    bool is_started;
    bool is_waiting; /* another source had the address: the log has it */
    /* Which descriptors are watched. To watch one again would make the kernel walk through all
     * sockets in it. */
    bool is_listening, is_polling;
    bool has_timer; /* that runs the server again */
    bool is_leaving;
    struct server_figures figures;
    time_t date_of;
    char date[32];              /* the header, of the second `date_of` */
    char head[SERVER_HEAD_MAX]; /* of an answer, while it is written */
};

extern const struct weir_behaviour http_server;

#endif
