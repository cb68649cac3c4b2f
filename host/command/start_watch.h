/*
 * command/start_watch.h - TERM and INT end a host that starts, at every moment.
 *
 * Signals are blocked from the first act of main on, and the I/O thread reads them once it runs. A
 * start may last: a plugin that is tried, workers that open. Meanwhile a thread of its own waits
 * for TERM and INT, and nothing else. It removes what the start has made so far, the control socket
 * and the private folder, and ends the process with 75: nothing was accepted yet.
 *
 * Life: start_watch_begin .. start_watch_end, on the first thread of the process, which also makes
 * all other calls. A signal that comes after the end is kept for the I/O thread.
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
    int signals;                               /* const: signalfd of the thread */
    int end;                                   /* const: eventfd that ends it */
    struct control_listener *_Atomic listener; /* owned; the thread that exchanges it for NULL
                                                * owns it then */
};

/* WEIR_ENOMEM: no thread or no descriptor; nothing is to be ended then. */
int start_watch_begin(struct start_watch *watch, struct configuration *configuration, FILE *err);
/* For exit_guard_set_wake, until the end: code of a plugin ends the host while it starts. */
void start_watch_wake(void *context);
/* Waits for the thread, which ends at once, or ends the process. */
void start_watch_end(struct start_watch *watch);

/*
 * Listens where `settings` say, if anywhere, and keeps the listener. What is wrong goes to `err`.
 * WEIR_EINVALID, WEIR_ENOMEM.
 */
int start_watch_listen(struct start_watch *watch, const struct settings_host *settings);
/* Gives the listener away; NULL: there is none. Also after the end. */
struct control_listener *start_watch_take_listener(struct start_watch *watch);

#endif
