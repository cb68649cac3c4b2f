/* SPDX-License-Identifier: MIT */
#include "config/pattern.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <weir/status.h>

#define FOLDER_LOOKS 8u /* the cost of opening a folder, as a number of names */

/* The evaluation of one pattern: the matches of its parts so far, and those with the next part. */
struct finding {
    uint32_t *looks;
    struct pattern_matches before;
    struct pattern_matches next;
    size_t capacity; /* of next */
    char *unread;    /* owned; the first */
    int error;
};

static bool has_wildcard(const char *text)
{
    return strpbrk(text, "*?[") != NULL;
}

void pattern_finish(struct pattern_matches *matches)
{
    for (size_t i = 0; i < matches->count; i++)
        free(matches->paths[i]);
    free(matches->paths);
    free(matches->unread);
    *matches = (struct pattern_matches){ 0 };
}

static int spend(struct finding *finding, uint32_t looks)
{
    if (*finding->looks < looks)
        return WEIR_EINVALID;
    *finding->looks -= looks;
    return WEIR_OK;
}

/* Adds `start` followed by `name`. A path longer than PATH_MAX cannot exist and is skipped. */
static int add(struct finding *finding, const char *start, const char *name)
{
    struct pattern_matches *next = &finding->next;
    size_t size = strlen(start) + strlen(name) + 1;
    char *path;

    if (size > PATH_MAX)
        return WEIR_OK;
    if (next->count == finding->capacity) {
        size_t capacity = finding->capacity ? finding->capacity * 2 : 16;
        char **paths = realloc(next->paths, capacity * sizeof *paths);

        if (!paths)
            return WEIR_ENOMEM;
        next->paths = paths;
        finding->capacity = capacity;
    }
    path = malloc(size);
    if (!path)
        return WEIR_ENOMEM;
    (void)snprintf(path, size, "%s%s", start, name);
    next->paths[next->count++] = path;
    return WEIR_OK;
}

/* A look at a path failed with this errno; 0: it did not. */
static int note_unread(struct finding *finding, const char *path, int error)
{
    if (error == 0 || error == ENOENT || error == ENOTDIR || finding->unread)
        return WEIR_OK;
    finding->error = error;
    finding->unread = strdup(path);
    return finding->unread ? WEIR_OK : WEIR_ENOMEM;
}

static int read_folder(struct finding *finding, DIR *directory, const char *folder,
                       const char *part)
{
    int status = WEIR_OK;

    while (status == WEIR_OK) {
        struct dirent *entry;

        errno = 0;
        entry = readdir(directory);
        if (!entry)
            return note_unread(finding, folder, errno);
        status = spend(finding, 1);
        if (status == WEIR_OK && fnmatch(part, entry->d_name, FNM_PERIOD) == 0)
            status = add(finding, folder, entry->d_name);
    }
    return status;
}

/* Lists the entries of one folder. */
static int add_matching(struct finding *finding, const char *folder, const char *part)
{
    const char *path = folder[0] ? folder : ".";
    int status = spend(finding, FOLDER_LOOKS);
    DIR *directory;

    if (status != WEIR_OK)
        return status;
    directory = opendir(path);
    if (!directory)
        return note_unread(finding, path, errno);
    status = read_folder(finding, directory, folder, part);
    (void)closedir(directory);
    return status;
}

static void unescape(char *text)
{
    char *to = text;

    for (; *text; text++) {
        text += text[0] == '\\' && text[1];
        *to++ = *text;
    }
    *to = '\0';
}

/* Appends `name`, which has no wildcards, to all matches so far. */
static int append_all(struct finding *finding, const char *name)
{
    int status = WEIR_OK;

    for (size_t i = 0; i < finding->before.count && status == WEIR_OK; i++) {
        status = spend(finding, 1);
        if (status == WEIR_OK)
            status = add(finding, finding->before.paths[i], name);
    }
    return status;
}

static int match_all(struct finding *finding, const char *part)
{
    int status = WEIR_OK;

    for (size_t i = 0; i < finding->before.count && status == WEIR_OK; i++)
        status = add_matching(finding, finding->before.paths[i], part);
    return status;
}

/* The matches so far are the start of the next part. */
static void go_on(struct finding *finding)
{
    pattern_finish(&finding->before);
    finding->before = finding->next;
    finding->next = (struct pattern_matches){ 0 };
    finding->capacity = 0;
}

/* Takes a part and the slashes after it; `*at` moves past both. Changes the part. */
static int take_part(struct finding *finding, const char **at)
{
    size_t length = strcspn(*at, "/");
    size_t slashes = strspn(*at + length, "/");
    char *part = strndup(*at, length);
    char *behind = strndup(*at + length, slashes);
    int status = WEIR_ENOMEM;

    if (part && behind && has_wildcard(part)) {
        status = match_all(finding, part);
    } else if (part && behind) {
        unescape(part);
        status = append_all(finding, part);
    }
    if (status == WEIR_OK && slashes) {
        go_on(finding);
        status = append_all(finding, behind);
    }
    go_on(finding);
    *at += length + slashes;
    free(part);
    free(behind);
    return status;
}

static int keep_those_that_are_there(struct finding *finding)
{
    struct pattern_matches *found = &finding->before;
    size_t count = found->count;
    int result = WEIR_OK;

    found->count = 0;
    for (size_t i = 0; i < count; i++) {
        char *path = found->paths[i];
        struct stat status;

        if (lstat(path, &status) == 0) {
            found->paths[found->count++] = path;
            continue;
        }
        if (note_unread(finding, path, errno) != WEIR_OK)
            result = WEIR_ENOMEM;
        free(path);
    }
    return result;
}

static int by_name(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

int pattern_find(const char *pattern, uint32_t *looks, struct pattern_matches *out)
{
    struct finding finding = { .capacity = 0 };
    int status = add(&finding, "", "");

    finding.looks = looks;
    go_on(&finding);
    while (*pattern && status == WEIR_OK)
        status = take_part(&finding, &pattern);
    if (status == WEIR_OK)
        status = keep_those_that_are_there(&finding);
    finding.before.unread = finding.unread;
    finding.before.error = finding.error;
    if (status != WEIR_OK) {
        pattern_finish(&finding.before);
        return status;
    }
    if (finding.before.count)
        qsort(finding.before.paths, finding.before.count, sizeof *finding.before.paths, by_name);
    *out = finding.before;
    return WEIR_OK;
}
