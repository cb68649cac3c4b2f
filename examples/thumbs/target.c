/* SPDX-License-Identifier: MIT */
#include "target.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SUFFIX ".png"
#define PART ".part" /* suffix of the name until the file is complete */

static const char *escape(char c)
{
    if (c == '/')
        return "%2F";
    return c == '%' ? "%25" : NULL;
}

const char *target_name(struct target *target, const char *into, const char *picture)
{
    /* Room for `.part`, the suffix of the unfinished file. */
    const size_t room = sizeof target->path - sizeof ".part" - sizeof SUFFIX - 3;
    size_t size = (size_t)snprintf(target->path, room, "%s/", into);

    for (const char *p = picture; *p && size < room; p++) {
        const char *escaped = escape(*p);

        if (!escaped) {
            target->path[size++] = *p;
            continue;
        }
        memcpy(target->path + size, escaped, 3);
        size += 3;
    }
    if (size >= room)
        return "its name would be too long";
    memcpy(target->path + size, SUFFIX, sizeof SUFFIX);
    return NULL;
}

static int write_all(int file, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t written = write(file, bytes, size);

        if (written < 0 && errno != EINTR)
            return -1;
        if (written > 0) {
            bytes += written;
            size -= (size_t)written;
        }
    }
    return 0;
}

/* One worker at a time has a picture, and a picture has one name: no other worker writes this
 * file. */
const char *target_write(const struct target *target, const void *bytes, size_t size)
{
    char part[sizeof target->path + sizeof PART];
    int file, failed;

    (void)snprintf(part, sizeof part, "%s" PART, target->path);
    file = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0)
        return errno == ENAMETOOLONG ? "its name would be too long" : "it cannot be written";
    failed = write_all(file, bytes, size);
    failed |= close(file);
    if (!failed && rename(part, target->path) == 0)
        return NULL;
    (void)unlink(part);
    return "it cannot be written";
}
