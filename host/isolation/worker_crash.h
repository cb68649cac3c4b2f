/* SPDX-License-Identifier: MIT */
/*
 * isolation/worker_crash.h - the log lines of a crash in the process of an isolated worker.
 *
 * They are those of a host (crash/crash.h), written by the process itself to the standard error
 * that it has in common with its host.
 *
 * One per process, since a signal handler can only reach globals. The thread that runs the
 * callbacks.
 */
#ifndef HOST_ISOLATION_WORKER_CRASH_H
#define HOST_ISOLATION_WORKER_CRASH_H

#include "config/log_format.h"
#include "host/isolation/worker_state.h"
#include "host/plugin/descriptor.h"

/* Before the first callback. Without memory lines have no names of functions. */
void worker_crash_begin(void);

/* From now on lines have this format, and the names of the worker and of its plugin, which was
 * loaded from `image` and is a copy of `file`. Borrows the worker and the texts until the process
 * ends. */
struct worker_code {
    const struct worker *worker;
    const struct descriptor *descriptor;
    const char *behaviour;
    const char *file;
    const char *image;
    uint32_t generation;
    enum log_format format;
};
void worker_crash_name(const struct worker_code *code);

/* A callback begins (enum dialogue_callback); 0: none runs. */
void worker_crash_note(int callback);
/* It has this message in hand. The process does not know labels. */
void worker_crash_note_message(const struct worker_message *message);

#endif
