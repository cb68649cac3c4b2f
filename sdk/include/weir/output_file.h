/* SPDX-License-Identifier: MIT */
/*
 * weir/output_file.h - for a behaviour that appends to a file: it is never one that keeps a state.
 *
 * Not part of <weir/plugin.h>; inline only, nothing to link. Needs _GNU_SOURCE, which
 * weir_add_plugin sets. The option that names the file has `.writes = true` in its row, so that
 * `weir check` refuses the state files of the same configuration; weir_output_open refuses those of
 * other hosts, too.
 */
#ifndef WEIR_OUTPUT_FILE_H
#define WEIR_OUTPUT_FILE_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef _GNU_SOURCE

/* Whether another open file has the lock of a position, or of a file of dead letters. */
static inline bool weir_output_is_locked_(int descriptor)
{
    if (flock(descriptor, LOCK_SH | LOCK_NB) < 0)
        return errno == EWOULDBLOCK;
    (void)flock(descriptor, LOCK_UN);
    return false;
}

/* Whether the file is a position that a source has: see weir_settling_lock. */
static inline bool weir_output_is_position_(const char *path)
{
    char *target = realpath(path, NULL), *lock = NULL;
    int descriptor = -1;
    bool is = false;

    if (target && asprintf(&lock, "%s.lock", target) >= 0) {
        descriptor = open(lock, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        free(lock);
    }
    if (descriptor >= 0) {
        is = weir_output_is_locked_(descriptor);
        (void)close(descriptor);
    }
    free(target);
    return is;
}

static inline int weir_output_open_(const char *path, int flags, mode_t mode)
{
    int descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | flags, mode);
    struct stat about;

    if (descriptor < 0 || fstat(descriptor, &about) < 0 || !S_ISREG(about.st_mode))
        return descriptor;
    if (!weir_output_is_locked_(descriptor) && !weir_output_is_position_(path))
        return descriptor;
    (void)close(descriptor);
    errno = EBUSY;
    return -1;
}

/*
 * Opens a file to append to, through links, and makes it with `mode` when it is not there. Returns
 * a descriptor that commands do not get, or -1 with errno; EBUSY: a host keeps a state there: a
 * position, its lock, or dead letters. Waits for a reader of a FIFO.
 */
static inline int weir_output_open(const char *path, mode_t mode)
{
    return weir_output_open_(path, 0, mode);
}

/* The same, and waits for nobody: ENXIO for a FIFO without a reader, and a write to a FIFO or a
 * terminal that is full fails with EAGAIN. */
static inline int weir_output_open_now(const char *path, mode_t mode)
{
    return weir_output_open_(path, O_NONBLOCK, mode);
}

/* The reason of such an errno, for people: a clause about the file. `text` takes it, of `size`
 * bytes; returns `text`. */
static inline const char *weir_output_reason(int error, char *text, size_t size)
{
    (void)snprintf(text, size, "%s",
                   error == EBUSY ? "a host keeps its state in this file" : strerror(error));
    return text;
}

#endif

#endif
