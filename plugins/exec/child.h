/* SPDX-License-Identifier: MIT */
/*
 * child.h - starts a process in a process group of its own, and ends the whole group.
 *
 * The new process starts as launch.h says. The group also ends when the host ends in any way.
 *
 * Life: child_start .. child_reap; child_init makes a `struct child` that child_reap may get. Not
 * synchronised. Until child_reap the group exists at least as a zombie, so a signal cannot reach
 * processes of others.
 */
#ifndef CHILD_H
#define CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "lifeline.h"

/* Descriptors that a child may be given: 0, 1, 2, and two more. */
#define CHILD_DESCRIPTORS_MAX 5u

struct child {
    pid_t process;  /* also the number of its group; 0 = none */
    int descriptor; /* owned: a pidfd, readable when the process has ended; -1 = none */
    struct lifeline lifeline;
};

/* How a process ended. */
struct child_end {
    bool by_signal;
    int number; /* the exit code, or the signal */
};

/* The common settings of the children of one worker. Borrows everything. */
struct child_plan {
    const char *program;    /* absolute path */
    const char *directory;  /* NULL: that of the host */
    char *const *variables; /* of the environment; ends with NULL */
};

void child_init(struct child *child);

/*
 * Starts the program. `arguments` ends with NULL. Descriptor `descriptors[i]` becomes descriptor
 * `i` of the child. Returns 0 or an errno: E2BIG, EAGAIN, ENOMEM, EMFILE, ENOENT, EACCES, ...
 * Borrows.
 */
int child_start(struct child *child, const struct child_plan *plan, char *const *arguments,
                const int *descriptors, size_t count);

/* Sends a signal to the whole group. No effect without a child. */
void child_signal(const struct child *child, int signal_number);

/* Waits for `wait_ms` at most. True: the process has ended. */
bool child_wait(const struct child *child, int wait_ms);

/* True when the process has ended; it is not reaped yet. */
bool child_has_ended(const struct child *child, struct child_end *out_end);

/*
 * Kills the remaining processes of the group and reaps the child. Waits at most `wait_ms` until the
 * child has ended; a negative number waits without a limit. False: the child has not ended by then,
 * and becomes a zombie later. No effect without a child.
 */
bool child_reap(struct child *child, int wait_ms);

#endif
