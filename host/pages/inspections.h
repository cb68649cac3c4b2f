/* SPDX-License-Identifier: MIT */
/*
 * pages/inspections.h - requests of the control socket to actors for their items (`weir inspect`).
 *
 * An actor answers in a turn of its own, after the message that it handles (pending_answers.h).
 * After INSPECTIONS_TIMEOUT_MS without an answer the client reads that the actor is in a handler.
 * I/O thread.
 */
#ifndef HOST_PAGES_INSPECTIONS_H
#define HOST_PAGES_INSPECTIONS_H

#include <stdbool.h>

#include "host/pages/pending_answers.h"

#define INSPECTIONS_TIMEOUT_MS 5000

/* The actor and the items. Borrowed until return, except for the connection. */
struct inspections_question {
    const char *path;  /* of a pool, source or worker (`pool#3`), a registered name, or a PID */
    const char *items; /* names with commas between them; "" = all */
    bool wants_text;
    struct connection *connection; /* gets one answer */
};

/* Sends the question. On 0 the connection is answered later; WEIR_EUNKNOWN, WEIR_ETERMINATED: no
 * actor has that name; WEIR_EINVALID: too many items; WEIR_ENOMEM. */
int inspections_ask(struct pending_answers *pending, const struct inspections_question *question);

#endif
