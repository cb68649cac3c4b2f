/* SPDX-License-Identifier: MIT */
/*
 * control/control.h - serves the control socket: connections, requests to a handler, answers.
 *
 * Everything here runs on the I/O thread, unless a comment says otherwise, and no function waits.
 *
 * Bounds: CONTROL_CONNECTIONS_MAX connections at a time. CONTROL_CONNECTIONS_RESERVED beyond them
 * answer probes only. All other requests and connections get 503 and are closed. A client has
 * CONTROL_TIMEOUT_MS to send its request, and as long to take the answer; on a reserved connection
 * a tenth of that time. A request has at most HTTP_REQUEST_MAX bytes, and a body HTTP_BODY_MAX. A
 * connection is one request.
 *
 *      READING ---- complete ----> ASKED ---- control_answer ----> WRITING ----> closed
 *         \--- wrong, too large, too slow: answered at once ---------/
 *
 * The socket may be replaced by another, or by none, while it works: clients that are connected to
 * the old one are served to the end. A listener holds all memory for that, so serving cannot fail.
 * Any thread can make and offer a listener. When descriptors are out, a client takes one of the
 * reserve; when that is empty, too, clients wait and are tried again each CONTROL_AGAIN_MS.
 *
 * Life: control_create .. control_destroy, before io_destroy. All calls on the I/O thread, or
 * before and after it runs.
 */
#ifndef HOST_CONTROL_CONTROL_H
#define HOST_CONTROL_CONTROL_H

#include "host/control/control_socket.h"
#include "host/control/http.h"
#include "host/control/reserve.h"

struct uv_loop_s;
struct control;
struct control_listener;
struct connection;

#define CONTROL_CONNECTIONS_MAX 64      /* people and a metrics scraper: each holds 8 KiB */
#define CONTROL_CONNECTIONS_RESERVED 16 /* probes of several supervisors at once */
#define CONTROL_AGAIN_MS 100
#define CONTROL_TIMEOUT_MS 10000 /* writing the answer of 10,000 pools takes a tenth of it */

/* The answer to a request. */
struct control_reply {
    unsigned status;
    const char *content_type; /* static */
    char *text;               /* allocated; taken; NULL: memory was out */
    size_t size;
};

struct control_setup {
    struct uv_loop_s *loop;
    /* Gets a request; calls control_answer for `connection`, now or later, exactly once. */
    void (*ask)(void *context, struct connection *connection, const struct http_request *request);
    /* True for a request that a reserved place answers, too; must not wait. */
    bool (*is_probe)(const struct http_request *request);
    /* Changes an answer that has a text before it is sent. NULL: none is changed. */
    void (*conceal)(void *context, struct control_reply *reply);
    void *context;
    struct reserve *reserve; /* for clients when descriptors are out; NULL: none */
    uint64_t timeout_ms;     /* 0 = CONTROL_TIMEOUT_MS */
};

/* It has no listener yet. WEIR_ENOMEM. */
int control_create(const struct control_setup *setup, struct control **out);

/* Closes every connection, answered or not, and every listener, with its file; their memory is
 * freed when the loop runs once more, which io_destroy does. NULL is allowed. */
void control_destroy(struct control *control);

/* Removes the files of all listeners. Only for use just before `_exit`. */
void control_leave(struct control *control);

/* --- listeners ------------------------------------------------------------------------------ */

/* Any thread. Takes the socket, also on failure; NULL: a listener that no client can connect to.
 * Returns owned. WEIR_ENOMEM. */
int control_listener_create(struct control_socket *socket, struct control_listener **out);
/* For a listener that was not offered: closes its socket and removes its file. NULL is allowed. */
void control_listener_destroy(struct control_listener *listener);

/* Any thread. Takes a listener; the next control_collect serves it in place of the present one. */
void control_offer(struct control *control, struct control_listener *listener);

/* Serves the listener that was offered last. WEIR_EINVALID: libuv refuses the listener. */
int control_collect(struct control *control);

/* Any thread. True when `path` is a name of the socket that was offered last. */
bool control_is_at(struct control *control, const char *path);

/* Sends the answer; takes its text. */
void control_answer(struct connection *connection, struct control_reply reply);

#endif
