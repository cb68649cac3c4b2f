/* SPDX-License-Identifier: MIT */
/*
 * pages/pending_answers.h - requests of the control socket that an actor answers later.
 *
 * The I/O thread does not wait: the answer wakes it, and pending_answers_collect fetches the answer
 * and writes it to the client. A client whose time is over gets WEIR_ETIMEOUT as its status.
 *
 * Life: init .. finish, when the runtime has ended. All calls on the I/O thread; `on_answer` is
 * called on the thread that answers.
 */
#ifndef HOST_PAGES_PENDING_ANSWERS_H
#define HOST_PAGES_PENDING_ANSWERS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <weir/port.h>

#include "core/weir_core.h"
#include "host/control/control.h"

struct assembly;
struct pending_answer;

struct pending_answers {
    struct assembly *assembly;        /* const */
    void (*on_answer)(void *context); /* const */
    void *context;                    /* const */
    struct pending_answer *open;      /* oldest first */
};

/* One request. Borrowed until return, except for the connection. */
struct pending_question {
    const char *path; /* for messages */
    bool wants_text;
    uint64_t timeout_ms;
    struct connection *connection; /* gets one answer */
    /* Writes the answer, or the reason why there is none, and sets status and type of `reply`.
     * Borrows all. */
    void (*write)(const struct pending_question *question, int status,
                  const struct weir_answer *answer, struct control_reply *reply, FILE *stream);
};

void pending_answers_init(struct pending_answers *pending, struct assembly *assembly,
                          void (*on_answer)(void *context), void *context);
/* Clients that still wait get no answer. */
void pending_answers_finish(struct pending_answers *pending);

/* Copies a question. NULL: memory is out. Returns owned; `free` ends it. */
struct pending_answer *pending_answer_create(const struct pending_question *question);

/* The options of the request to `to`, with the time-out of the question. */
struct request_options pending_answers_options(const struct pending_answers *pending,
                                               const struct pending_answer *answer, weir_pid to);

/* Takes a question whose request was sent; its client is answered later. */
void pending_answers_add(struct pending_answers *pending, struct pending_answer *answer,
                         uint64_t reference);

/* Answers the clients whose answer has arrived or whose time is over. */
void pending_answers_collect(struct pending_answers *pending);

#endif
