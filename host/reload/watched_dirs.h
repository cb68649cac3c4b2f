/* SPDX-License-Identifier: MIT */
/*
 * reload/watched_dirs.h - the directories to watch for a change of a file.
 *
 * That is the directory that holds the file, and each one that holds a symbolic link of its path,
 * since a link may be replaced. For a missing directory it is the nearest existing one above.
 *
 * Life: watched_dirs_init .. watched_dirs_finish. Not synchronised.
 */
#ifndef HOST_RELOAD_WATCHED_DIRS_H
#define HOST_RELOAD_WATCHED_DIRS_H

#include "config/files.h"

#define WATCHED_DIRS_MAX 128 /* each costs kernel memory, like a descriptor */

struct watched_dir {
    char *path;        /* owned */
    uint64_t identity; /* of the directory that was found there */
};

struct watched_dirs {
    uint32_t count;
    struct watched_dir dirs[WATCHED_DIRS_MAX];
};

void watched_dirs_init(struct watched_dirs *dirs);
void watched_dirs_finish(struct watched_dirs *dirs);

/* Adds the directories of all `files`, each once. Leaves out some when there are too many or memory
 * is out. */
void watched_dirs_add(struct watched_dirs *dirs, const struct config_files *files);

/* True when both are the same directories under the same names. */
bool watched_dirs_equal(const struct watched_dirs *left, const struct watched_dirs *right);

#endif
