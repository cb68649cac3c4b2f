/* SPDX-License-Identifier: MIT */
/*
 * unreadable.h - the files that cannot be opened, or are not to be, which the log has.
 *
 * A list is empty when it is NULL, and ends with unreadable_forget of all. Not synchronised.
 */
#ifndef UNREADABLE_H
#define UNREADABLE_H

#include <stdbool.h>
#include <sys/stat.h>

struct unreadable {
    dev_t device;
    ino_t inode;
    int error;     /* an errno, or what follower.c has in its place */
    bool is_there; /* still, at the last check */
    struct unreadable *next;
};

/* True when the log has this file with this error; else it has now. Without memory the file is
 * logged again. */
bool unreadable_is_known(struct unreadable **list, const struct stat *about, int error);
/* Forgets the files that the last check has not tried and failed to open; with `all`, the others,
 * too. */
void unreadable_forget(struct unreadable **list, bool all);

#endif
