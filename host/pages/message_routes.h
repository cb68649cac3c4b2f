/* SPDX-License-Identifier: MIT */
/*
 * pages/message_routes.h - the handlers of `weir send` and `weir request`.
 *
 * The body of the request is the payload. Query: `tag`, a name of 1 to 128 bytes; `key`, a text for
 * `route: hash`. PATH is that of a pool, or the name of a source whose behaviour has `handle`. The
 * messages have no sender. I/O thread: no handler waits for room; the client
 * tries again.
 */
#ifndef HOST_PAGES_MESSAGE_ROUTES_H
#define HOST_PAGES_MESSAGE_ROUTES_H

#include "host/pages/inquiry.h"

#define MESSAGE_ROUTES_TIMEOUT_MAX_MS 3600000u /* an hour: the client holds a connection for it */

/*
 * POST /pools/PATH/send: one message; with `lines=1` one for each line of the body, without its
 * end. The answer says how many were accepted, from the front, also after a refusal. 503: no room
 * now, or the pool accepts nothing now.
 */
unsigned message_routes_send(struct inquiry *inquiry);

/*
 * POST /pools/PATH/request?timeout=MS: answers with the bytes of the reply; 204 handled without a
 * reply; 503 as above; 504 no reply in time; 409 rejected; 502 the worker failed.
 */
unsigned message_routes_request(struct inquiry *inquiry);

#endif
