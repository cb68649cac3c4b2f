/*
 * reload/watched_dirs.h - the directories in which a change of a file would show.
 *
 * That is the one that holds it, and each that holds a symbolic link on the way to it: a link may
 * be flipped. What is not there yet shows in the nearest directory that is.
 *
 * Life: watched_dirs_init .. watched_dirs_finish. Not synchronised.
 */
#ifndef HOST_RELOAD_WATCHED_DIRS_H
#define HOST_RELOAD_WATCHED_DIRS_H

#include "config/files.h"

#define WATCHED_DIRS_MAX 128 /* each is a descriptor's worth of the kernel's memory */

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

/* Adds those of all `files`, each once. More than there is room for are left out, and so are some
 * when memory is out. */
void watched_dirs_add(struct watched_dirs *dirs, const struct config_files *files);

/* True when both are the same directories under the same names. */
bool watched_dirs_equal(const struct watched_dirs *left, const struct watched_dirs *right);

#endif
