/* SPDX-License-Identifier: MIT */
#include "host/plugin/leftovers.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Never follows a symbolic link: in /tmp any user may have made one. */
static int open_directory(int parent, const char *name)
{
    return openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* False: another process has the lock. */
static bool try_lock(int descriptor)
{
    return flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

/* A directory that is removed while it is open has no name left. */
static bool is_removed(int descriptor)
{
    struct stat status;

    return fstat(descriptor, &status) != 0 || status.st_nlink == 0;
}

int leftovers_lock(int parent, const char *name)
{
    int descriptor = open_directory(parent, name);

    if (descriptor < 0)
        return -1;
    if (try_lock(descriptor) && !is_removed(descriptor))
        return descriptor;
    close(descriptor);
    return -1;
}

/* Removes files only: copies are files. */
void leftovers_remove_files(int directory)
{
    int descriptor = open_directory(directory, ".");
    DIR *stream = descriptor < 0 ? NULL : fdopendir(descriptor);

    if (!stream) {
        if (descriptor >= 0)
            close(descriptor);
        return;
    }
    for (struct dirent *entry; (entry = readdir(stream));)
        (void)unlinkat(dirfd(stream), entry->d_name, 0);
    closedir(stream);
}

static bool is_ours(int descriptor)
{
    struct stat status;

    return fstat(descriptor, &status) == 0 && status.st_uid == geteuid();
}

static void sweep_one(int parent, const char *name)
{
    int descriptor = open_directory(parent, name);

    if (descriptor < 0)
        return;
    if (is_ours(descriptor) && flock(descriptor, LOCK_EX | LOCK_NB) == 0) {
        leftovers_remove_files(descriptor);
        /* Before the unlock: a host that has just opened the directory fails to lock it, and makes
         * another. */
        (void)unlinkat(parent, name, AT_REMOVEDIR);
    }
    close(descriptor);
}

void leftovers_sweep(int parent)
{
    int descriptor = open_directory(parent, ".");
    DIR *directory = descriptor < 0 ? NULL : fdopendir(descriptor);

    if (!directory) {
        if (descriptor >= 0)
            close(descriptor);
        return;
    }
    for (struct dirent *entry; (entry = readdir(directory));) {
        if (strncmp(entry->d_name, LEFTOVERS_PREFIX, strlen(LEFTOVERS_PREFIX)) == 0)
            sweep_one(dirfd(directory), entry->d_name);
    }
    closedir(directory);
}
