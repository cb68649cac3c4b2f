/* SPDX-License-Identifier: MIT */
/*
 * pages/control_routes.h - the routes of the control socket and their handlers.
 *
 *      GET  /status  /pools  /pools/PATH  /dead  /dead/PATH  /metrics  /livez  /readyz
 *      POST /reload  /pools/PATH/scale?size=N  /pools/PATH/pause  /pools/PATH/resume
 *           /dead/PATH/replay
 *      GET  /plan?file=FILE  /inspect/PATH?items=A,B
 *
 * Answers are JSON, or, for a request whose Accept names text/plain, tables for people. The status
 * of an error names its cause: 400 the request, 404 no such page or pool, 405 the method, 409 the
 * pool refuses it, 422 the configuration, 503 the host is ending, 504 an actor did not answer in
 * time.
 *
 * All functions run on the I/O thread. A request that has to wait goes to the supervisor as an
 * job, or to the inspected actor.
 */
#ifndef HOST_PAGES_CONTROL_ROUTES_H
#define HOST_PAGES_CONTROL_ROUTES_H

#include "host/control/control.h"
#include "host/pages/inquiry.h"

/* For control_setup: `context` is a struct control_routes. */
void control_routes_ask(void *context, struct connection *connection,
                        const struct http_request *request);

/* For control_setup: hides values of `${file:...}` in all answers but payloads. */
void control_routes_conceal(void *context, struct control_reply *reply);

/* For control_setup: true for /livez and /readyz. */
bool control_routes_is_probe(const struct http_request *request);

/* Sends the answers of finished control jobs and of actors. */
void control_routes_collect(struct control_routes *routes);

#endif
