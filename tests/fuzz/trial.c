/* SPDX-License-Identifier: MIT */
#include "trial.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[64];

void trial_must(bool holds, const char *what)
{
    if (holds)
        return;
    (void)fprintf(stderr, "fuzz: %s\n", what);
    abort();
}

static void remove_file(void)
{
    (void)unlink(path);
}

const char *trial_path(void)
{
    const char *folder = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";

    if (path[0])
        return path;
    (void)snprintf(path, sizeof path, "%s/weir-fuzz-%ld", folder, (long)getpid());
    (void)atexit(remove_file);
    return path;
}

void trial_write(const void *bytes, size_t size)
{
    int descriptor = open(trial_path(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    trial_must(descriptor >= 0 && write(descriptor, bytes, size) == (ssize_t)size,
               "the file of the trial cannot be written");
    (void)close(descriptor);
}

char *trial_copy(const void *bytes, size_t size)
{
    char *copy = malloc(size);

    trial_must(copy || size == 0, "memory is out");
    if (size > 0)
        memcpy(copy, bytes, size);
    return copy;
}
