/*
 * config/files.h - the files that a configuration was read from, and whether one has changed since.
 *
 * A file has a *stamp*: a number that is another one when the file was written, replaced, removed
 * or may be read by others than before. It is taken before the file is read, so that a change while
 * it is read shows. The stamp of a pattern covers the names that it matches.
 *
 * Life: config_files_init .. config_files_finish. Not synchronised.
 */
#ifndef CONFIG_FILES_H
#define CONFIG_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONFIG_FILES_MAX 2000 /* twice what `include` may name; more are not looked at */

struct config_file {
    char *path;    /* owned; as it was opened */
    uint64_t name; /* a hash of that */
    bool pattern;  /* of `include`: what matters is which names it matches */
    uint64_t stamp;
};

struct config_files {
    struct config_file *files; /* owned */
    size_t count;
};

void config_files_init(struct config_files *files);
void config_files_finish(struct config_files *files);

/*
 * Adds a file that is about to be read, with its stamp of now. What is no file on disk, in /proc
 * and /sys, is left out; so is what is there already. Without memory it is left out, too: whoever
 * watches misses a change, and no more. A NULL `files` swallows it.
 */
void config_files_add(struct config_files *files, const char *path, bool pattern);

/* One stamp for all of them: as they were added, and as they are now. */
uint64_t config_files_stamp(const struct config_files *files);
uint64_t config_files_stamp_now(const struct config_files *files);

#endif
