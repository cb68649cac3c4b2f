/* SPDX-License-Identifier: MIT */
/*
 * launch.h - starts a program in a process group of its own, which a lifeline ends with the host.
 *
 * The new process has an empty signal mask, default signal handlers, and no descriptors but those
 * that it is given. It shares the memory of the host until exec (vfork), and makes only system
 * calls there. posix_spawn cannot bind a lifeline, and a child that is bound after its start
 * escapes when the host is killed in between.
 */
#ifndef LAUNCH_H
#define LAUNCH_H

#include <stddef.h>
#include <sys/types.h>

#include "lifeline.h"

struct launch {
    const char *program;   /* absolute path */
    const char *directory; /* NULL: that of the host */
    char *const *arguments;
    char *const *variables;
    const struct lifeline *lifeline;
    const int *descriptors; /* `descriptors[i]` becomes `i`; none is below `count` */
    size_t count;
};

/* Returns 0 or an errno: E2BIG, EAGAIN, ENOMEM, ENOENT, EACCES, ...; then nothing runs. Borrows. */
int launch(const struct launch *launch, pid_t *out_process);

#endif
