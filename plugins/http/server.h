/*
 * server.h - the state of a source http.server, and its options.
 *
 * One actor runs the whole server, so nothing here needs a lock. libmicrohttpd has no thread: its
 * epoll descriptor is watched, and the actor calls the library when a socket is ready.
 */
#ifndef SERVER_H
#define SERVER_H

#include <microhttpd.h>
#include <weir/plugin.h>

#define SERVER_OUTPUT 0u

enum server_mode { SERVER_REPLY = 0, SERVER_ACCEPT = 1 };
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
    uint64_t crowded_out; /* idle connections that were closed for new ones */
};

struct server {
    struct weir_self *self; /* of the present callback */
    const struct server_settings *settings;
    const struct weir_tag *request_tag, *body_tag, *response_tag;
    struct MHD_Daemon *daemon;
    int listener; /* owned; -1 = none */
    int poller;   /* the library's epoll descriptor */
    int hangups;  /* owned: an epoll descriptor that reports clients that leave while they wait */
    int access_log;
    struct connection *first; /* all connections */
    uint32_t connection_count;
    uint32_t open_requests; /* requests without an answer yet */
    uint64_t body_bytes;    /* of all requests */
    bool is_started;
    /* Which descriptors are watched. To watch one again would make the kernel walk through all
     * sockets in it. */
    bool is_listening, is_polling, sees_hangups;
    bool has_answers; /* for the library; `produce` sends all that came in one turn */
    bool has_timer;   /* that calls the library again */
    bool is_leaving;
    struct server_figures figures;
};

/* Lets the library work, then waits for its sockets, and accepts when there is room again. */
void server_run(struct server *server);
/* The same, once after all replies that have come. */
void server_run_soon(struct server *server);

extern const struct weir_behaviour http_server;

#endif
