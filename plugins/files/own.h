/* SPDX-License-Identifier: MIT */
/*
 * own.h - the files that this process writes: to follow them is a loop.
 *
 * A snapshot: made when it is first asked, until own_forget. Zeroed memory is empty. Not
 * synchronised.
 */
#ifndef OWN_H
#define OWN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

struct own {
    struct own_file *files; /* owned */
    size_t count;
    bool is_made;
};

/* False: the host lacks a descriptor or memory to look, so own_has does not know. */
bool own_is_known(struct own *own);

/* True when the process has the file open for writing, as an output, a log or a dead-letter
 * file. */
bool own_has(struct own *own, const struct stat *about);
void own_forget(struct own *own);

#endif
