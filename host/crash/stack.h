/* SPDX-License-Identifier: MIT */
/*
 * crash/stack.h - the stack of a thread as a text for the log, such as
 * `parse_line (shout.so+0x1d7d) < handle (shout.so+0x1f20)`. Offsets are of instructions of the
 * line, as `addr2line -ifCe shout.so 0x1d7d` wants them.
 */
#ifndef HOST_CRASH_STACK_H
#define HOST_CRASH_STACK_H

#include <stdbool.h>
#include <stddef.h>

#define STACK_FRAMES_MAX 24

/* Where the names of the functions of plugins come from. */
struct stack_names {
    /* Writes the place of an address in a plugin, as symbols_find does. NULL: none is known. */
    bool (*find)(void *context, const void *base, const void *address, char *out, size_t size);
    void *context;
};

/* The first call of backtrace(3) loads a library, which no signal handler may do. */
void stack_prepare(void);

/* Describes up to a dozen of the frames that backtrace(3) found, the first of which was
 * interrupted. Those of the program below a plugin are left out. Cut at `size`. */
void stack_describe(const struct stack_names *names, void *const *frames, int count, char *text,
                    size_t size);

#endif
