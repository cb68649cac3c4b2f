/* SPDX-License-Identifier: MIT */
/*
 * config/files.h - the files that a configuration was read from, and whether one has changed since.
 *
 * A file has a *stamp*, a number. The stamp changes when the file is written, replaced or removed,
 * or when its permissions let other users read it. It is taken before the file is read, so that a
 * change during the reading shows. The stamp of a pattern covers the names that it matches.
 *
 * Life: config_files_init .. config_files_finish. Not synchronised.
 */
#ifndef CONFIG_FILES_H
#define CONFIG_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONFIG_FILES_MAX 2000 /* twice the limit of `include`; further files are not watched */

struct config_file {
    char *path;    /* owned; as it was opened */
    uint64_t name; /* a hash of that */
    bool pattern;  /* a pattern of `include`: its stamp covers the names that it matches */
    uint64_t stamp;
};

struct config_files {
    struct config_file *files; /* owned */
    size_t count;
};

void config_files_init(struct config_files *files);
void config_files_finish(struct config_files *files);

/*
 * Adds a file that is about to be read, with its present stamp. Skips names that are no files on
 * disk (/proc, /sys) and files that are there already. Skips the file, too, when memory is out:
 * then a change of that file goes unnoticed. A NULL `files` ignores the call.
 */
void config_files_add(struct config_files *files, const char *path, bool pattern);

/* One stamp for all files: as they were added, and as they are now. */
uint64_t config_files_stamp(const struct config_files *files);
uint64_t config_files_stamp_now(const struct config_files *files);

#endif
