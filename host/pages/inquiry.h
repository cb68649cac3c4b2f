/* SPDX-License-Identifier: MIT */
/*
 * pages/inquiry.h - one request on the control socket, as its handlers see it.
 *
 * A handler writes its answer to `stream` and returns the HTTP status. All handlers run on the I/O
 * thread.
 */
#ifndef HOST_PAGES_INQUIRY_H
#define HOST_PAGES_INQUIRY_H

#include "host/control/control.h"
#include "host/pages/overview_figures.h"
#include "host/pages/pending_answers.h"

#define TYPE_JSON "application/json"
#define TYPE_TEXT "text/plain; charset=utf-8"
#define TYPE_BYTES "application/octet-stream"

struct control_routes {
    struct overview overview;
    struct supervisor *supervisor;
    struct pending_answers pending;
};

/* One request, and the answer under construction. */
struct inquiry {
    struct control_routes *routes;
    struct connection *connection;
    const struct http_request *request;
    char *rest; /* of the path, after the route's own; cut at a verb */
    struct control_reply reply;
    FILE *stream; /* fills the reply */
    bool later;   /* a control job or an actor answers later */
};

/* Writes an error in the format of the request: text or JSON. Returns `status`. */
WEIR_PRINTF(3, 4)
unsigned inquiry_refuse(struct inquiry *inquiry, unsigned status, const char *format, ...);

/* Refuses because no pool has the path in `rest`. Returns the status. */
unsigned inquiry_no_such_pool(struct inquiry *inquiry);
/* As inquiry_no_such_pool, where the name of a source is right, too. */
unsigned inquiry_no_such_part(struct inquiry *inquiry);
/* As inquiry_no_such_part, where a worker, `pool#3`, or the name of an actor is right, too. */
unsigned inquiry_no_such_actor(struct inquiry *inquiry);

#endif
