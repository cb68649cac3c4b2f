/* SPDX-License-Identifier: MIT */
#include "copies.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Bytes that are compared while a copy is being made. */
#define BLOCK ((size_t)4096)

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

bool copies_is_name_of(const char *copy, const char *original)
{
    const char *name = name_of(copy), *before = name_of(original);
    size_t stem = strcspn(before, ".-_0123456789"); /* logrotate may put its part in the middle */

    return stem > 0 && strlen(name) > strlen(before) && strncmp(name, before, stem) == 0;
}

int copies_has(struct followed *copy, const struct bookmark_entry *entry)
{
    int same;

    if (entry->offset == 0 || entry->print.size == 0 || copy->size < entry->offset)
        return 0;
    same = weir_fingerprint_compare(copy->descriptor, &entry->print);
    if (same <= 0)
        return same;
    copy->offset = copy->tried = entry->offset;
    copy->number = entry->number;
    copy->print = entry->print;
    return 1;
}

int copies_claim(struct follower *follower, struct followed *copy)
{
    for (struct followed *file = follower->first; file; file = file->next) {
        int has = file->before.offset > 0 ? copies_has(copy, &file->before) : 0;

        if (has > 0) {
            file->before.offset = 0;
            followed_take_lines(copy, file);
        }
        if (has != 0)
            return has;
    }
    return 0;
}

/* True when the first bytes of the copy are those of the file, or cannot be read. */
static bool begins_alike(const struct followed *copy, const struct followed *file)
{
    char ours[BLOCK], theirs[BLOCK];
    size_t size = copy->size < BLOCK ? (size_t)copy->size : BLOCK;
    ssize_t own = pread(copy->descriptor, ours, size, 0);
    ssize_t other = pread(file->descriptor, theirs, size, 0);

    return own < 0 || other < 0 || (own == other && memcmp(ours, theirs, (size_t)own) == 0);
}

/* By the clock of the file system. */
static bool was_just_written(const struct followed *copy, uint64_t wait_ms)
{
    struct timespec now;
    struct stat about;

    if (clock_gettime(CLOCK_REALTIME, &now) < 0 || fstat(copy->descriptor, &about) < 0)
        return false;
    return (now.tv_sec - about.st_ctim.tv_sec) * 1000 <= (int64_t)wait_ms;
}

bool copies_may_be(const struct follower *follower, const struct followed *copy)
{
    if (!was_just_written(copy, follower->rules.rotate_wait))
        return false;
    for (const struct followed *file = follower->first; file; file = file->next) {
        if (file->offset > 0 && !file->is_gone && copies_is_name_of(copy->path, file->path) &&
            copy->size <= file->size && begins_alike(copy, file))
            return true;
    }
    return false;
}
