#include "host/plugin/leftovers.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Never through a symbolic link: in /tmp anybody may have laid one. */
static int open_directory(int parent, const char *name)
{
    return openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static int lock(int descriptor, int how)
{
    int status;

    do
        status = flock(descriptor, how);
    while (status != 0 && errno == EINTR);
    return status;
}

/* A directory that was removed while it is open has no name left. */
static bool is_removed(int descriptor)
{
    struct stat status;

    return fstat(descriptor, &status) != 0 || status.st_nlink == 0;
}

int leftovers_lock(const char *directory)
{
    int descriptor = open_directory(AT_FDCWD, directory);

    if (descriptor < 0)
        return -1;
    (void)lock(descriptor, LOCK_EX);
    if (!is_removed(descriptor))
        return descriptor;
    close(descriptor);
    return -1;
}

/* Takes the descriptor. Removes nothing that is a directory: copies are files. */
static void remove_files(int descriptor)
{
    DIR *directory = fdopendir(descriptor);

    if (!directory) {
        close(descriptor);
        return;
    }
    for (struct dirent *entry; (entry = readdir(directory));)
        (void)unlinkat(dirfd(directory), entry->d_name, 0);
    closedir(directory);
}

static bool is_ours(int descriptor)
{
    struct stat status;

    return fstat(descriptor, &status) == 0 && status.st_uid == geteuid();
}

static void sweep_one(int parent, const char *name)
{
    int descriptor = open_directory(parent, name);
    int files;

    if (descriptor < 0)
        return;
    if (is_ours(descriptor) && lock(descriptor, LOCK_EX | LOCK_NB) == 0) {
        files = open_directory(descriptor, ".");
        if (files >= 0)
            remove_files(files);
        /* Still locked: who has just made it and waits for the lock sees that it is gone. */
        (void)unlinkat(parent, name, AT_REMOVEDIR);
    }
    close(descriptor);
}

void leftovers_sweep(const char *parent)
{
    DIR *directory = opendir(parent);

    if (!directory)
        return;
    for (struct dirent *entry; (entry = readdir(directory));) {
        if (strncmp(entry->d_name, LEFTOVERS_PREFIX, strlen(LEFTOVERS_PREFIX)) == 0)
            sweep_one(dirfd(directory), entry->d_name);
    }
    closedir(directory);
}
