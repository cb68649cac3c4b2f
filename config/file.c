/* SPDX-License-Identifier: MIT */
#include "config/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

#define ATTEMPTS_MAX 3 /* a file that changes in each attempt is no configuration */

struct reading {
    int descriptor;
    size_t max;
    char *why;
    size_t why_size;
};

static int fail(const struct reading *reading, int status, const char *what)
{
    (void)snprintf(reading->why, reading->why_size, "%s: %s", what, strerror(errno));
    return status;
}

static int check_kind(const struct reading *reading, struct stat *found)
{
    char limit[32];

    if (fstat(reading->descriptor, found) != 0)
        return fail(reading, WEIR_EUNKNOWN, "cannot be looked at");
    if (!S_ISREG(found->st_mode)) {
        (void)snprintf(reading->why, reading->why_size, "is %s",
                       S_ISDIR(found->st_mode) ? "a directory" : "not a regular file");
        return WEIR_EINVALID;
    }
    if (found->st_size > 0 && (uintmax_t)found->st_size > reading->max) {
        text_format_size(reading->max, limit, sizeof limit);
        (void)snprintf(reading->why, reading->why_size, "is larger than %s", limit);
        return WEIR_EINVALID;
    }
    return WEIR_OK;
}

/* Reads to the end, or to one byte past the maximum: the file may grow, or report no size
 * (/proc). */
static int read_bytes(const struct reading *reading, char *bytes, size_t *size)
{
    ssize_t got = 1;

    *size = 0;
    while (got > 0 && *size <= reading->max) {
        got = read(reading->descriptor, bytes + *size, reading->max + 1 - *size);
        if (got < 0 && errno == EINTR)
            got = 1;
        else if (got < 0)
            return fail(reading, WEIR_EUNKNOWN, "cannot be read");
        else
            *size += (size_t)got;
    }
    if (*size <= reading->max)
        return WEIR_OK;
    (void)snprintf(reading->why, reading->why_size, "is too large, and grew while it was read");
    return WEIR_EINVALID;
}

/* Files in /proc have no size. */
static bool is_as_before(const struct stat *before, const struct stat *after, size_t size)
{
    return before->st_size == 0 ||
           ((uintmax_t)after->st_size == size && before->st_size == after->st_size &&
            before->st_mtim.tv_sec == after->st_mtim.tv_sec &&
            before->st_mtim.tv_nsec == after->st_mtim.tv_nsec);
}

/* Reads the file again when it changed during the read: a mix of two texts is neither of them. */
static int read_at_rest(const struct reading *reading, char *bytes, size_t *size)
{
    for (int attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
        struct stat before;
        struct stat after;
        int status = check_kind(reading, &before);

        if (status == WEIR_OK)
            status = read_bytes(reading, bytes, size);
        if (status == WEIR_OK)
            status = check_kind(reading, &after);
        if (status != WEIR_OK || is_as_before(&before, &after, *size))
            return status;
        if (lseek(reading->descriptor, 0, SEEK_SET) != 0)
            return fail(reading, WEIR_EUNKNOWN, "cannot be read");
    }
    (void)snprintf(reading->why, reading->why_size, "changes while it is read");
    return WEIR_EINVALID;
}

static int read_all(const struct reading *reading, char **out_bytes, size_t *out_size)
{
    struct stat found;
    int status = check_kind(reading, &found);
    char *bytes;
    char *fitting;

    if (status != WEIR_OK)
        return status;
    bytes = malloc(reading->max + 2);
    if (!bytes)
        return WEIR_ENOMEM;
    status = read_at_rest(reading, bytes, out_size);
    if (status != WEIR_OK) {
        free(bytes);
        return status;
    }
    bytes[*out_size] = '\0';
    fitting = realloc(bytes, *out_size + 1);
    if (fitting)
        bytes = fitting;
    *out_bytes = bytes;
    return WEIR_OK;
}

int file_read(const char *file, size_t max, char **out_bytes, size_t *out_size, char *why,
              size_t why_size)
{
    struct reading reading = { -1, max, why, why_size };
    int status;

    (void)snprintf(why, why_size, "out of memory");
    reading.descriptor = open(file, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (reading.descriptor < 0)
        return fail(&reading, WEIR_EUNKNOWN, "cannot be opened");
    status = read_all(&reading, out_bytes, out_size);
    (void)close(reading.descriptor);
    return status;
}
