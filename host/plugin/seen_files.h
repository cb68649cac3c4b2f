/* SPDX-License-Identifier: MIT */
/*
 * plugin/seen_files.h - remembers files of plugins, so that an unchanged file is not read again.
 *
 * A file is unchanged when device, inode, size and time of change are the same. Life: zeros ..
 * seen_files_finish. Not synchronised.
 */
#ifndef HOST_PLUGIN_SEEN_FILES_H
#define HOST_PLUGIN_SEEN_FILES_H

#include <stdbool.h>
#include <sys/stat.h>

struct generation;

/* A file at the time of its last load. */
struct seen {
    struct seen *next;
    const struct generation *generation;
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec modified;
    char file[];
};

struct seen_files {
    struct seen *first; /* owned */
};

/* Frees its entries. */
void seen_files_finish(struct seen_files *files);

/* NULL when the file is not remembered. Borrowed. */
struct seen *seen_files_find(const struct seen_files *files, const char *file);

bool seen_files_is_unchanged(const struct seen *seen);

/* Without memory nothing is remembered: the file is read again next time. */
void seen_files_remember(struct seen_files *files, const char *file, const struct stat *status,
                         const struct generation *generation);

/* Forgets all files of a generation. */
void seen_files_forget(struct seen_files *files, const struct generation *generation);

#endif
