/* SPDX-License-Identifier: MIT */
#include "log_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <weir/output_file.h>

static int64_t number_of(const struct log_file *file, time_t when)
{
    return file->period ? (int64_t)when / (int64_t)file->period : 0;
}

/* False, too, for a file that may not be read. */
static bool has_half_a_line(const struct log_file *file)
{
    char name[32], last = file->end;
    int descriptor;

    if (!file->has_end || !file->is_regular || file->size == 0)
        return false;
    (void)snprintf(name, sizeof name, "/proc/self/fd/%d", file->descriptor);
    descriptor = open(name, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return false;
    (void)!pread(descriptor, &last, 1, (off_t)file->size - 1);
    (void)close(descriptor);
    return last != file->end;
}

int log_file_reopen(struct log_file *file)
{
    int descriptor = weir_output_open(file->path, 0644);
    struct stat about;

    if (descriptor < 0)
        return errno;
    if (fstat(descriptor, &about) < 0) {
        int error = errno;

        (void)close(descriptor);
        return error;
    }
    log_file_close(file);
    file->descriptor = descriptor;
    file->is_regular = S_ISREG(about.st_mode);
    file->size = (uint64_t)about.st_size;
    file->number = number_of(file, about.st_mtime);
    file->ends_within_a_line = has_half_a_line(file);
    return 0;
}

int log_file_open(struct log_file *file)
{
    file->descriptor = -1;
    return log_file_reopen(file);
}

void log_file_close(struct log_file *file)
{
    if (file->descriptor >= 0)
        (void)close(file->descriptor);
    file->descriptor = -1;
}

/* --- rotating --------------------------------------------------------------------------------- */

/* PATH.NUMBER becomes PATH.NUMBER+1; 0 is PATH itself. A file that is not there is no error. */
static int move_up(const char *path, uint32_t number)
{
    char *from = NULL, *to = NULL;
    int error = ENOMEM, size;

    size = number > 0 ? asprintf(&from, "%s.%u", path, number) : asprintf(&from, "%s", path);
    if (size >= 0) {
        if (asprintf(&to, "%s.%u", path, number + 1) >= 0) {
            error = rename(from, to) == 0 || errno == ENOENT ? 0 : errno;
            free(to);
        }
        free(from);
    }
    return error;
}

/* The file itself moves where the path is a link, which stays. Without a file nothing moves. */
static int move_all_up(const struct log_file *file)
{
    char *target = realpath(file->path, NULL);
    int error = 0;

    if (!target)
        return errno == ENOENT ? 0 : errno;
    for (uint32_t number = file->keep; number > 0 && error == 0; number--)
        error = move_up(target, number - 1);
    if (file->keep == 0 && unlink(target) < 0)
        error = errno;
    free(target);
    return error;
}

/* The oldest is overwritten by the one before it. */
static int rotate(struct log_file *file)
{
    int error = move_all_up(file);

    if (error == 0)
        error = log_file_reopen(file);
    file->rotations += error == 0;
    return error;
}

static bool is_due(const struct log_file *file, uint64_t size, time_t now)
{
    if (file->size == 0 || !file->is_regular)
        return false;
    if (file->size_max && file->size + size > file->size_max)
        return true;
    return file->period && number_of(file, now) != file->number;
}

/* --- appending -------------------------------------------------------------------------------- */

/* One write, so that lines of several writers do not mix. */
static int write_parts(struct log_file *file, struct iovec *parts, size_t *out_written)
{
    size_t all = parts[0].iov_len + parts[1].iov_len;

    *out_written = 0;
    while (*out_written < all) {
        ssize_t written = writev(file->descriptor, parts, 2);
        size_t first;

        if (written < 0 && errno != EINTR)
            return errno;
        if (written <= 0)
            continue;
        *out_written += (size_t)written;
        first = (size_t)written < parts[0].iov_len ? (size_t)written : parts[0].iov_len;
        parts[0].iov_base = (char *)parts[0].iov_base + first;
        parts[0].iov_len -= first;
        parts[1].iov_base = (char *)parts[1].iov_base + ((size_t)written - first);
        parts[1].iov_len -= (size_t)written - first;
    }
    return 0;
}

/* Truncates a record that was only written in part, if nothing follows it in the file. */
static void take_back(const struct log_file *file, size_t written)
{
    struct stat about;

    if (written > 0 && fstat(file->descriptor, &about) == 0 &&
        (uint64_t)about.st_size == file->size + written)
        (void)!ftruncate(file->descriptor, (off_t)file->size);
}

static int end_half_a_line(struct log_file *file)
{
    struct iovec parts[2] = { { &file->end, 1 }, { NULL, 0 } };
    size_t written;
    int error = file->ends_within_a_line ? write_parts(file, parts, &written) : 0;

    if (error == 0) {
        file->size += file->ends_within_a_line;
        file->ends_within_a_line = false;
    }
    return error;
}

int log_file_append(struct log_file *file, const char *text, size_t size, const char *end,
                    size_t end_size, time_t now)
{
    struct iovec parts[2] = { { (void *)(uintptr_t)text, size },
                              { (void *)(uintptr_t)end, end_size } };
    size_t written;
    int error = is_due(file, size + end_size, now) ? rotate(file) : 0;

    if (error == 0)
        error = end_half_a_line(file);
    if (error != 0)
        return error;
    error = write_parts(file, parts, &written);
    if (error != 0) {
        take_back(file, written);
        return error;
    }
    file->size += size + end_size;
    file->number = number_of(file, now);
    return 0;
}
