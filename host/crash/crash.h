/* SPDX-License-Identifier: MIT */
/*
 * crash/crash.h - reports whose code ran when a signal ends the host.
 *
 * A fault in a plugin is a fault of the whole process. The handler blames the message in hand when
 * the code of the thread is the reason (crash_file.h). It writes a line with the signal, pool,
 * plugin, generation, worker and message (last_words.h), then lets the signal end the process as it
 * would have. It never resumes. A fault in the host's own code is reported with the last callback
 * of the thread, since that callback may have corrupted the host's memory.
 *
 * One per process, since a signal handler can only reach globals.
 */
#ifndef HOST_CRASH_CRASH_H
#define HOST_CRASH_CRASH_H

#include <signal.h>
#include <stdbool.h>

#include "host/crash/last_words.h"
#include "host/crash/stack.h"

/* The calls are made in the signal handler; each may be NULL. */
struct crash_setup {
    /* The callback that runs or ran last on the calling thread, borrowed; NULL: the host itself. */
    const struct crash_note *(*current)(void);
    void (*first)(void); /* before the line is written */
    const char *effect;  /* how the line ends; static */
};

/* Installs the handler for SEGV, BUS, ILL, FPE and ABRT. When it has written, it calls the handler
 * that was there before, such as a sanitizer's. 0, or WEIR_EINVALID when the system refuses. */
int crash_install(const struct crash_setup *setup);
/* From now on the line of a crash is followed by one with the stack, with these names of functions.
 * Copies the struct; its context is borrowed until crash_uninstall. */
void crash_name_functions(const struct stack_names *names);
/* Restores the former signal actions. */
void crash_uninstall(void);

/* Whether a program sent the signal, so that it says who. Safe in a signal handler, as the next. */
bool crash_is_sent(const siginfo_t *info);
/* Whether the code of this thread is the reason: it faulted, or the process sent the signal itself.
 * Not so: another process sent it, a timer, or memory of the machine is broken. */
bool crash_is_own_fault(int number, const siginfo_t *info);

/* The stack of one thread's handler. Owned by the thread; zeros = none. */
struct crash_stack {
    void *memory;
};

/*
 * Gives the calling thread a stack of its own for the handler, so that a stack overflow is
 * reported, too; keeps a stack that the thread has already (a sanitizer's). A fault on a thread
 * without such a stack is reported unless it is a stack overflow. WEIR_ENOMEM.
 */
int crash_thread_begin(struct crash_stack *out_stack);
/* Removes that stack, on the same thread. */
void crash_thread_end(struct crash_stack *stack);

#endif
