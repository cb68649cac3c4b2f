/* SPDX-License-Identifier: MIT */
/*
 * plugin/private_dir.h - a directory of this process from which plugin copies are loaded.
 *
 * A plugin's file may be overwritten or replaced while its code runs: overwriting kills a process
 * that has it mapped, and dlopen does not notice a replacement. So the host maps copies that no
 * other program changes.
 *
 * Life: private_dir_create .. private_dir_destroy, which removes the copies. Not synchronised.
 */
#ifndef HOST_PLUGIN_PRIVATE_DIR_H
#define HOST_PLUGIN_PRIVATE_DIR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "host/plugin/problem.h"

#define PRIVATE_DIR_FILE_MAX ((uint64_t)1024 * 1024 * 1024) /* far larger than any plugin */

struct private_dir;

/*
 * Makes the directory, mode 0700, under $WEIR_PLUGIN_TMP, else $XDG_RUNTIME_DIR, else /tmp: the
 * first one where files may be mapped as code, and where only root and our user could replace it
 * (see trust.h). For users other than root, $WEIR_PLUGIN_TMP and /tmp may be writable by others.
 * Removes directories of killed hosts there. Returns owned. WEIR_ENOTALLOWED with the reason.
 */
int private_dir_create(struct private_dir **out_dir, struct problem *problem);
/* Removes the copies and the directory. NULL is allowed. */
void private_dir_destroy(struct private_dir *dir);

/*
 * Removes them just before `_exit`, while another thread may be making a copy, which fails then.
 * Memory stays as it is.
 */
void private_dir_leave(const struct private_dir *dir);

/* False when it was removed or moved away: no plugin can be loaded from it any more. */
bool private_dir_is_there(const struct private_dir *dir);

/* Its path. Borrowed until private_dir_destroy. */
const char *private_dir_path(const struct private_dir *dir);

/* A copied file. */
struct private_copy {
    char *path;         /* of the copy, owned by the directory, until private_dir_destroy */
    uint64_t hash;      /* FNV-1a of the content */
    struct stat status; /* of the file that was copied */
};

/*
 * Copies the regular file at `path` to `name` in the directory; replaces an earlier copy of that
 * name. Refuses a file that changes during the copy, and a file that is no shared object for this
 * machine. On failure nothing is left, and `problem` begins with the path.
 */
int private_dir_copy(struct private_dir *dir, const char *path, const char *name,
                     struct private_copy *out_copy, struct problem *problem);

/* Renames a copy and changes its path. */
int private_dir_rename(struct private_dir *dir, struct private_copy *copy, const char *name,
                       struct problem *problem);

/* Removes a copy. */
void private_dir_discard(struct private_dir *dir, struct private_copy *copy);

#endif
