/* SPDX-License-Identifier: MIT */
/*
 * http_site.h - an http.server in the kit, at a Unix socket in a folder of its own; its clients.
 *
 * Life: site_serve .. site_finish, one at a time. Every failure here fails the test.
 */
#ifndef HTTP_SITE_H
#define HTTP_SITE_H

#include <stdbool.h>
#include <stddef.h>

#include <weir/testkit.h>

#include "scratch.h"

#define GET "GET /a%2fb?c=d HTTP/1.1\r\nHost: weir\r\nX-One: 1\r\nX-Two: 2\r\n\r\n"
#define POST                                                                                       \
    "POST /p HTTP/1.1\r\nHost: weir\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n\r\nabc"

extern struct scratch site_scratch;
extern char site_path[128]; /* of the socket */

/* `more` are settings beside `listen`, as YAML. */
struct weir_kit *site_serve(const char *more);
void site_finish(struct weir_kit *kit);

/* Connects, and sends. Returns the socket; the caller closes it. */
int site_client(const char *request);
/* As the core: what a watch or a reply wakes produces, too, until the source leaves. */
void site_run(struct weir_kit *kit);
/* Polls until as many messages have left. Returns the last. */
const struct weir_kit_sent *site_sent(struct weir_kit *kit, size_t count);
/* Polls until an answer is there; closes the client. Returns the answer; static. */
const char *site_answer(struct weir_kit *kit, int client);
bool site_begins(const char *text, const char *with);
/* Answers the message of this number, and reads what the client gets. */
void site_answer_and_keep(struct weir_kit *kit, int client, size_t number);
/* All that comes until it has this text, or the server closes; static. */
const char *site_hear(struct weir_kit *kit, int client, const char *end);

#endif
