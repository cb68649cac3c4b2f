/* SPDX-License-Identifier: MIT */
/*
 * command/start_watch.h - lets TERM and INT end a host that starts, at every moment.
 *
 * main blocks signals first of all; later the I/O thread reads them. A start may take long: it
 * tries plugins, and workers open. Meanwhile a separate thread waits for TERM and INT. It removes
 * the control socket and the private folder, and ends the process with 75: the host has accepted no
 * message yet.
 *
 * Life: start_watch_begin .. start_watch_end, on the first thread of the process, which also makes
 * all other calls. A signal after the end is left for the I/O thread.
 */
#ifndef HOST_COMMAND_START_WATCH_H
#define HOST_COMMAND_START_WATCH_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "config/settings.h"
#include "host/control/control.h"
#include "host/reload/configuration.h"

struct start_watch {
    struct configuration *configuration; /* const: borrowed */
    FILE *err;                           /* const: borrowed */
    pthread_t thread;
    int signals; /* const: signalfd of the thread */
    int end;     /* const: eventfd that ends it */
    /* owned; a thread takes it by exchanging it for NULL */
    struct control_listener *_Atomic listener;
};

/* WEIR_ENOMEM: no thread or no descriptor; then start_watch_end is not needed. */
int start_watch_begin(struct start_watch *watch, struct configuration *configuration, FILE *err);
/* For exit_guard_set_wake, until the end: a plugin's code called exit() during the start. */
void start_watch_wake(void *context);
/* Ends the thread and waits for it. The thread may end the process first. */
void start_watch_end(struct start_watch *watch);

/*
 * Listens at the socket of `settings`, if any, and keeps the listener. Prints failures to `err`.
 * WEIR_EINVALID, WEIR_ENOMEM.
 */
int start_watch_listen(struct start_watch *watch, const struct settings_host *settings);
/* Returns the listener, owned; NULL: there is none. Also after the end. */
struct control_listener *start_watch_take_listener(struct start_watch *watch);

#endif
