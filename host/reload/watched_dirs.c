/* SPDX-License-Identifier: MIT */
#include "host/reload/watched_dirs.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINKS_MAX 40 /* as the kernel follows */

void watched_dirs_init(struct watched_dirs *dirs)
{
    dirs->count = 0;
}

void watched_dirs_finish(struct watched_dirs *dirs)
{
    for (uint32_t i = 0; i < dirs->count; i++)
        free(dirs->dirs[i].path);
    dirs->count = 0;
}

/* 0 = there is no such directory. */
static uint64_t identity_of(const char *path)
{
    struct stat found;

    if (stat(path, &found) != 0 || !S_ISDIR(found.st_mode))
        return 0;
    return ((uint64_t)found.st_dev << 40) ^ (uint64_t)found.st_ino;
}

static void add_dir(struct watched_dirs *dirs, const char *path)
{
    uint64_t identity = identity_of(path);
    char *copy;

    for (uint32_t i = 0; i < dirs->count; i++)
        if (strcmp(dirs->dirs[i].path, path) == 0)
            return;
    if (dirs->count == WATCHED_DIRS_MAX || identity == 0)
        return;
    copy = strdup(path);
    if (copy)
        dirs->dirs[dirs->count++] = (struct watched_dir){ copy, identity };
}

/* The directory that holds the entry of the first `length` bytes of `path`. */
static void directory_of(const char *path, size_t length, char *out)
{
    while (length > 0 && path[length - 1] != '/')
        length--;
    while (length > 1 && path[length - 1] == '/')
        length--;
    (void)snprintf(out, PATH_MAX, "%.*s", (int)length, path);
    if (length == 0)
        (void)snprintf(out, PATH_MAX, ".");
}

/* Adds the directory that holds it; when it does not exist, the nearest one above. */
static void add_holder(struct watched_dirs *dirs, const char *path, size_t length)
{
    char holder[PATH_MAX];

    directory_of(path, length, holder);
    while (identity_of(holder) == 0 && strcmp(holder, "/") != 0 && strcmp(holder, ".") != 0) {
        char below[PATH_MAX];

        (void)snprintf(below, sizeof below, "%s", holder);
        directory_of(below, strlen(below), holder);
    }
    add_dir(dirs, holder);
}

/* The length of the first part of `path` that is a link, with its target; 0 = there is none. */
static size_t find_link(const char *path, char *target)
{
    char part[PATH_MAX];

    for (size_t length = strspn(path, "/"); path[length];) {
        ssize_t size;

        length += strcspn(path + length, "/");
        (void)snprintf(part, sizeof part, "%.*s", (int)length, path);
        size = readlink(part, target, PATH_MAX - 1);
        if (size >= 0) {
            target[size] = '\0';
            return length;
        }
        length += strspn(path + length, "/");
    }
    return 0;
}

/* Replaces the first `length` bytes by the target. False: the path gets too long. */
static bool follow(char *path, size_t length, const char *target)
{
    char followed[2 * PATH_MAX];
    char holder[PATH_MAX];
    int size;

    directory_of(path, length, holder);
    if (target[0] == '/')
        size = snprintf(followed, sizeof followed, "%s%s", target, path + length);
    else
        size = snprintf(followed, sizeof followed, "%s/%s%s", holder, target, path + length);
    if (size < 0 || size >= PATH_MAX)
        return false;
    memcpy(path, followed, (size_t)size + 1);
    return true;
}

static void add_file(struct watched_dirs *dirs, const char *file)
{
    char path[PATH_MAX];
    char target[PATH_MAX];

    if (snprintf(path, sizeof path, "%s", file) >= PATH_MAX)
        return;
    for (int links = 0; links < LINKS_MAX; links++) {
        size_t length = find_link(path, target);

        if (length == 0)
            break;
        add_holder(dirs, path, length);
        if (!follow(path, length, target))
            return;
    }
    add_holder(dirs, path, strlen(path));
}

/* Only the part of a pattern before its first wildcard is a path. */
static void add_pattern(struct watched_dirs *dirs, const char *pattern)
{
    char path[PATH_MAX];
    size_t length = strcspn(pattern, "*?[");

    if (snprintf(path, sizeof path, "%.*sx", (int)length, pattern) < PATH_MAX)
        add_file(dirs, path);
}

void watched_dirs_add(struct watched_dirs *dirs, const struct config_files *files)
{
    for (size_t i = 0; i < files->count; i++) {
        if (files->files[i].pattern)
            add_pattern(dirs, files->files[i].path);
        else
            add_file(dirs, files->files[i].path);
    }
}

bool watched_dirs_equal(const struct watched_dirs *left, const struct watched_dirs *right)
{
    if (left->count != right->count)
        return false;
    for (uint32_t i = 0; i < left->count; i++)
        if (left->dirs[i].identity != right->dirs[i].identity ||
            strcmp(left->dirs[i].path, right->dirs[i].path) != 0)
            return false;
    return true;
}
