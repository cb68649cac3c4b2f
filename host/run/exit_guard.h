/* SPDX-License-Identifier: MIT */
/*
 * run/exit_guard.h - reports whose code ran when a plugin ends the host without a crash: `exit` and
 * `quick_exit`, a signal whose action is to end the process, or the end of a thread of the host
 * (`pthread_exit`).
 *
 * The thread on which it happens writes one line (last_words.h), asks the I/O thread to log
 * the ledger and to end the process with 70, and waits. When that takes longer than a few seconds
 * the thread ends the process itself. A child process that a plugin forks is not watched.
 *
 * `_exit` cannot be caught. A signal that the plugin handles itself is left to the plugin.
 *
 * One per process, since signal handlers and exit handlers can only reach globals.
 */
#ifndef HOST_RUN_EXIT_GUARD_H
#define HOST_RUN_EXIT_GUARD_H

#include <stdbool.h>

struct executor;

#define EXIT_GUARD_CODE 70 /* EX_SOFTWARE */

/* Starts watching. WEIR_ENOMEM. */
int exit_guard_begin(void);
/* Stops watching. On the thread of exit_guard_begin. */
void exit_guard_end(void);

/*
 * `wake`, from a signal handler on any thread, makes the owner's thread call exit_guard_is_asked
 * soon. Without `wake`, the thread that wanted to end the process ends it at once.
 */
void exit_guard_set_wake(void (*wake)(void *context), void *context);

/* True when plugin code has ended the host: the caller logs the ledger and calls _exit. */
bool exit_guard_is_asked(void);

/* For runtime_options: on each dispatcher thread. They call those of crash_watch.h. */
void exit_guard_thread_start(struct executor *executor);
void exit_guard_thread_end(struct executor *executor);

#endif
