/* SPDX-License-Identifier: MIT */
/*
 * hosted.h - a whole host inside a test: configuration, runtime, supervisor, and a control socket
 * that listens and answers nobody. Without a progress line and signals. Its log is dropped.
 *
 * Life: hosted_start .. hosted_stop. Calls: the test's thread.
 */
#ifndef TESTS_UNIT_RELOAD_HOSTED_H
#define TESTS_UNIT_RELOAD_HOSTED_H

#include <stdio.h>

#include "actor/source.h"
#include "host/reload/supervisor.h"
#include "host/run/io.h"
#include "pool/change.h"
#include "runtime.h"

struct hosted {
    struct configuration configuration;
    struct screen *screen;
    struct logger *logger;
    struct turn_watch *turn_watch;
    struct runtime *runtime;
    struct assembly assembly;
    struct control_jobs jobs;
    struct io *io; /* runs only to close handles */
    struct control *control;
    struct supervisor supervisor;
    int nowhere;              /* descriptor of /dev/null */
    _Atomic bool has_ended;   /* by the supervisor */
    _Atomic uint32_t answers; /* jobs that are done */
};

/* The result of a reload. */
struct hosted_answer {
    int status;
    char text[4096]; /* as `weir reload` prints it; "" when there was no memory for it */
};

/*
 * Runs `file`, which must be right. `program` loads new plugins first; NULL: no trial. fault.h
 * follows the supervisor's thread.
 */
void hosted_start(struct hosted *hosted, const char *file, const char *program);

/* Ends it, and frees everything. */
void hosted_stop(struct hosted *hosted);

/* Has it take on its file, and waits for the answer. */
void hosted_reload(struct hosted *hosted, struct hosted_answer *out);

/* Sends a message without payload to a pool; the status of the send. */
int hosted_send(struct hosted *hosted, const char *path);

/* The pool of a path in force; NULL: none. */
struct pool *hosted_pool(struct hosted *hosted, const char *path);

/* Waits for a condition; false: the time is over. */
bool hosted_wait(struct hosted *hosted, bool (*done)(void *context), void *context);

#endif
