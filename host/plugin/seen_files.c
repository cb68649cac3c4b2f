/* SPDX-License-Identifier: MIT */
#include "host/plugin/seen_files.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FRESH_S 2 /* FAT has the coarsest time stamps: two seconds */

struct seen *seen_files_find(const struct seen_files *files, const char *file)
{
    for (struct seen *seen = files->first; seen; seen = seen->next) {
        if (strcmp(seen->file, file) == 0)
            return seen;
    }
    return NULL;
}

bool seen_files_is_unchanged(const struct seen *seen)
{
    struct stat now;

    return stat(seen->file, &now) == 0 && now.st_dev == seen->device && now.st_ino == seen->inode &&
           now.st_size == seen->size && now.st_mtim.tv_sec == seen->modified.tv_sec &&
           now.st_mtim.tv_nsec == seen->modified.tv_nsec;
}

/*
 * True when the file was written so recently that another write could get the same time stamp. Such
 * a file is read again next time.
 */
static bool is_fresh(const struct stat *status)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec - status->st_mtim.tv_sec < FRESH_S;
}

void seen_files_remember(struct seen_files *files, const char *file, const struct stat *status,
                         const struct generation *generation)
{
    struct seen *seen = seen_files_find(files, file);
    size_t size = strlen(file) + 1;

    if (!seen) {
        seen = calloc(1, sizeof *seen + size);
        if (!seen)
            return;
        memcpy(seen->file, file, size);
        seen->next = files->first;
        files->first = seen;
    }
    seen->generation = generation;
    seen->device = status->st_dev;
    seen->inode = status->st_ino;
    seen->size = is_fresh(status) ? -1 : status->st_size;
    seen->modified = status->st_mtim;
}

void seen_files_forget(struct seen_files *files, const struct generation *generation)
{
    struct seen **link = &files->first;

    while (*link) {
        struct seen *seen = *link;

        if (seen->generation != generation) {
            link = &seen->next;
            continue;
        }
        *link = seen->next;
        free(seen);
    }
}

void seen_files_finish(struct seen_files *files)
{
    for (struct seen *seen = files->first, *next; seen; seen = next) {
        next = seen->next;
        free(seen);
    }
}
