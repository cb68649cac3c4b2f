/*
 * control/control.h - serves the control socket: connections, requests to a handler, answers.
 *
 * Everything here runs on the I/O thread and none of it waits. Bounds: CONTROL_CONNECTIONS_MAX at
 * a time, those beyond are told 503 and closed; a request must be complete, and an answer taken,
 * within CONTROL_PATIENCE_MS each; a request has at most HTTP_REQUEST_MAX bytes. A connection is
 * one request.
 *
 *      READING ---- complete ----> ASKED ---- control_answer ----> WRITING ----> closed
 *         \--- wrong, too large, too slow: answered at once ---------/
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
struct connection;

#define CONTROL_CONNECTIONS_MAX 64 /* people and a scraper: each holds 8 KiB */
#define CONTROL_PATIENCE_MS 10000  /* a whole answer of 10,000 pools takes a tenth of it */

/* What is sent back. */
struct control_reply {
    unsigned status;
    const char *content_type; /* static */
    char *text;               /* allocated; taken; NULL: memory was out */
    size_t size;
};

struct control_setup {
    struct uv_loop_s *loop;
    const struct control_socket *socket; /* borrowed until control_destroy */
    /* Is asked something; calls control_answer for `connection`, now or later, exactly once. */
    void (*ask)(void *context, struct connection *connection, const struct http_request *request);
    void *context;
    uint64_t patience_ms; /* 0 = CONTROL_PATIENCE_MS */
};

/* WEIR_ENOMEM, or WEIR_EINVALID when the loop does not take it. */
int control_create(const struct control_setup *setup, struct control **out);

/* Closes every connection, answered or not; their memory is freed when the loop runs once more,
 * which io_destroy does. NULL is allowed. */
void control_destroy(struct control *control);

/* Sends the answer; takes its text. */
void control_answer(struct connection *connection, struct control_reply reply);

#endif
