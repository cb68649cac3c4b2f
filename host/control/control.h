/*
 * control/control.h - serves the control socket: connections, requests to a handler, answers.
 *
 * Everything here runs on the I/O thread, unless it says otherwise, and none of it waits. Bounds:
 * CONTROL_CONNECTIONS_MAX at a time, and CONTROL_CONNECTIONS_RESERVED beyond them in which only
 * probes are answered; all others get 503 and are closed. A request must be complete, and an answer
 * taken, within CONTROL_PATIENCE_MS each, in a reserved place within a tenth of it; a request has
 * at most HTTP_REQUEST_MAX bytes. A connection is one request.
 *
 *      READING ---- complete ----> ASKED ---- control_answer ----> WRITING ----> closed
 *         \--- wrong, too large, too slow: answered at once ---------/
 *
 * The socket may be replaced by another, or by none, while it works: who has connected to the one
 * before is served to the end. A listener holds all that is needed for that, so that it cannot
 * fail; it can be made and offered on any thread.
 *
 * Life: control_create .. control_destroy, before io_destroy. All of it on the I/O thread, or
 * before and after it runs.
 */
#ifndef HOST_CONTROL_CONTROL_H
#define HOST_CONTROL_CONTROL_H

#include "host/control/control_socket.h"
#include "host/control/http.h"

struct uv_loop_s;
struct control;
struct control_listener;
struct connection;

#define CONTROL_CONNECTIONS_MAX 64      /* people and a scraper: each holds 8 KiB */
#define CONTROL_CONNECTIONS_RESERVED 16 /* probes of several supervisors at once */
#define CONTROL_PATIENCE_MS 10000       /* a whole answer of 10,000 pools takes a tenth of it */

/* The answer to a request. */
struct control_reply {
    unsigned status;
    const char *content_type; /* static */
    char *text;               /* allocated; taken; NULL: memory was out */
    size_t size;
};

struct control_setup {
    struct uv_loop_s *loop;
    /* Is asked something; calls control_answer for `connection`, now or later, exactly once. */
    void (*ask)(void *context, struct connection *connection, const struct http_request *request);
    /* True for what is answered in a reserved place, too; must not wait. */
    bool (*is_probe)(const struct http_request *request);
    void *context;
    uint64_t patience_ms; /* 0 = CONTROL_PATIENCE_MS */
};

/* It listens nowhere yet. WEIR_ENOMEM. */
int control_create(const struct control_setup *setup, struct control **out);

/* Closes every connection, answered or not, and every listener, with its file; their memory is
 * freed when the loop runs once more, which io_destroy does. NULL is allowed. */
void control_destroy(struct control *control);

/* Removes the files of all listeners and does nothing else: just before `_exit`. */
void control_leave(struct control *control);

/* --- listeners ------------------------------------------------------------------------------ */

/* Any thread. Takes the socket, also on failure; NULL: a listener that nobody can connect to.
 * Returns owned. WEIR_ENOMEM. */
int control_listener_create(struct control_socket *socket, struct control_listener **out);
/* Of one that was not offered: closes its socket and removes its file. NULL is allowed. */
void control_listener_destroy(struct control_listener *listener);

/* Any thread: takes a listener, which is to be served instead of the one before; the next
 * control_collect sees to it. */
void control_offer(struct control *control, struct control_listener *listener);

/* Serves what was offered since. WEIR_EINVALID: the loop does not take a listener. */
int control_collect(struct control *control);

/* Any thread: whether `path` is a name of the socket that was offered last. */
bool control_is_at(struct control *control, const char *path);

/* Sends the answer; takes its text. */
void control_answer(struct connection *connection, struct control_reply reply);

#endif
