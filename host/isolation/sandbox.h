/* SPDX-License-Identifier: MIT */
/*
 * isolation/sandbox.h - what the process of an isolated worker may do after `open`.
 *
 * Files are bounded by landlock, the rest by a filter of system calls. Both hold until the process
 * ends, and for what it starts. What is open stays open.
 */
#ifndef HOST_ISOLATION_SANDBOX_H
#define HOST_ISOLATION_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>

#include <weir/option.h>

struct sandbox {
    bool on;
    bool strict; /* what the kernel cannot enforce is an error */
    bool network;
    struct weir_list read;
    struct weir_list write;
};

/* What this kernel cannot enforce, as a sentence without its subject; NULL: it can. Static. */
const char *sandbox_lacks(void);

/* Bounds this process. Returns 0, or an errno and a text for people in `why`. */
int sandbox_enter(const struct sandbox *sandbox, char *why, size_t size);

#endif
