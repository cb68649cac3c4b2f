/* SPDX-License-Identifier: MIT */
#include "paths.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "listing.h"

#define EXIT_INCOMPLETE 1
#define WILDCARDS "*?[\\"

/* --- spelling --------------------------------------------------------------------------------- */

/* The bytes of a path before its last slash that lies before `end`, with that slash. */
static size_t folder_size(const char *path, size_t end)
{
    while (end > 0 && path[end - 1] != '/')
        end--;
    return end;
}

/* Appends the parts of a path, without those that are empty or ".". */
static void append_parts(char *to, const char *parts)
{
    while (*parts) {
        size_t size = strcspn(parts, "/");

        if (size > 0 && !(size == 1 && parts[0] == '.')) {
            to += strlen(to);
            if (to[-1] != '/')
                *to++ = '/';
            memcpy(to, parts, size);
            to[size] = '\0';
        }
        parts += size + (parts[size] == '/');
    }
}

/* Returns owned: the first `size` bytes of a path, a folder, absolute, with the links resolved of
 * the part of it that is there. NULL: it cannot be reached, or memory is out: errno. */
static char *resolve_folder(const char *path, size_t size)
{
    char *folder = size > 0 ? strndup(path, size) : strdup("."), *real = NULL, *all = NULL;
    size_t there = size;

    while (folder && !(real = realpath(there > 0 ? folder : ".", NULL)) &&
           (errno == ENOENT || errno == ENOTDIR) && there > 0) {
        there = folder_size(folder, there - 1);
        folder[there] = '\0';
    }
    free(folder);
    if (real)
        all = calloc(strlen(real) + size - there + 2, 1);
    if (all) {
        char *rest = strndup(path + there, size - there);

        memcpy(all, real, strlen(real));
        if (rest) {
            append_parts(all, rest);
        } else {
            free(all);
            all = NULL;
        }
        free(rest);
    }
    free(real);
    return all;
}

char *paths_folder(const char *path)
{
    char *real = realpath(path, NULL);

    if (real) {
        size_t size = folder_size(real, strlen(real));

        real[size > 1 ? size - 1 : size] = '\0';
    }
    return real;
}

/* Returns owned: a path, with its folder resolved. NULL: errno, as above. */
static char *resolve(const char *path)
{
    size_t size = folder_size(path, strlen(path));
    char *folder = resolve_folder(path, size), *all = NULL;

    if (folder && asprintf(&all, "%s%s%s", folder, folder[1] == '\0' ? "" : "/", path + size) < 0)
        all = NULL;
    free(folder);
    return all;
}

static bool matches(const char *glob, const char *path)
{
    return fnmatch(glob, path, FNM_PATHNAME | FNM_PERIOD) == 0;
}

/* 1 when a path with a resolved folder matches a glob whose folder is resolved, too: the folder
 * that all its matches are below. -1: errno. */
static int matches_resolved(const char *glob, const char *path)
{
    size_t size = folder_size(glob, strcspn(glob, WILDCARDS));
    char *folder = resolve_folder(glob, size);
    size_t length = folder ? strlen(folder) : 0;
    bool is_match;

    if (!folder)
        return -1;
    if (length == 1)
        length = 0; /* the root's slash is the one before the rest */
    is_match = strncmp(folder, path, length) == 0 && path[length] == '/' &&
               matches(glob + size, path + length + 1);
    free(folder);
    return is_match;
}

/* The glob that matches; NULL: none does, or, with an errno in `*out_error`, may do. */
static const char *find_match(const struct weir_list *globs, const char *path, int *out_error)
{
    char *resolved = resolve(path);
    int error = resolved ? 0 : errno;
    const char *found = NULL;

    for (size_t i = 0; i < globs->count && !found; i++) {
        int is_match = matches(globs->items[i], path);

        if (!is_match && resolved)
            is_match = matches_resolved(globs->items[i], resolved);
        if (is_match > 0)
            found = globs->items[i];
        else if (is_match < 0)
            error = errno;
    }
    free(resolved);
    *out_error = error;
    return found;
}

int paths_have(const struct weir_list *paths, const char *path)
{
    int error;

    if (find_match(paths, path, &error))
        return 1;
    errno = error;
    return error ? -1 : 0;
}

int paths_exclude(const struct weir_list *exclude, const char *path)
{
    int error = 0;

    const char *name = path + folder_size(path, strlen(path));

    for (size_t i = 0; i < exclude->count; i++) {
        if (!strchr(exclude->items[i], '/') && fnmatch(exclude->items[i], name, 0) == 0)
            return 1;
    }
    if (exclude->count > 0 && find_match(exclude, path, &error))
        return 1;
    errno = error;
    return weir_is_short(error) ? -1 : 0;
}

bool paths_is_plain(const char *glob)
{
    return glob[strcspn(glob, WILDCARDS)] == '\0';
}

/* --- globs ------------------------------------------------------------------------------------ */

/* glob(3) hands no context to its functions. */
static struct paths_trouble *present_trouble(void)
{
    static _Thread_local struct paths_trouble present;

    return &present;
}

/* The first one, but a shortage rather than another one. */
static void note(const char *path, int error)
{
    struct paths_trouble *trouble = present_trouble();

    if (error == ENOENT || error == ENOTDIR || (trouble->error != 0 && !weir_is_short(error)))
        return;
    trouble->error = error;
    (void)snprintf(trouble->path, sizeof trouble->path, "%s", path);
}

static int stop_when_short(const char *folder, int error)
{
    note(folder, error);
    return weir_is_short(error);
}

static int stat_for_glob(const char *path, struct stat *out)
{
    int status = stat(path, out);

    if (status < 0)
        note(path, errno);
    return status;
}

static int lstat_for_glob(const char *path, struct stat *out)
{
    int status = lstat(path, out);

    if (status < 0)
        note(path, errno);
    return status;
}

static int compare_paths(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

int paths_glob(const char *pattern, glob_t *out, struct paths_trouble *out_trouble)
{
    const size_t before = out->gl_pathc;
    const int flags = GLOB_ALTDIRFUNC | GLOB_NOSORT | (out->gl_pathv ? GLOB_APPEND : 0);
    int status;

    present_trouble()->error = 0;
    listing_for_glob(out);
    out->gl_stat = stat_for_glob;
    out->gl_lstat = lstat_for_glob;
    status = glob(pattern, flags, stop_when_short, out);
    if (status == GLOB_NOSPACE)
        note(pattern, ENOMEM);
    *out_trouble = *present_trouble();
    if (out->gl_pathc > before) /* by bytes, not by the locale: the same order everywhere */
        qsort(out->gl_pathv + before, out->gl_pathc - before, sizeof *out->gl_pathv, compare_paths);
    return weir_is_short(out_trouble->error) ? out_trouble->error : 0;
}

void paths_log_trouble(struct weir_self *self, const char *pattern,
                       const struct paths_trouble *trouble, const char *effect)
{
    char text[128];

    weir_log(self, WEIR_LOG_WARNING, "path cannot be looked up", weir_str("path", trouble->path),
             weir_str("paths", pattern),
             weir_str("reason", strerror_r(trouble->error, text, sizeof text)),
             weir_str("effect", effect));
    weir_exit_status(self, EXIT_INCOMPLETE);
}

/* --- checks ----------------------------------------------------------------------------------- */

/* A source that reads its own position sends a message for each time that it saves it, for ever. */
static void check_own(const struct weir_list *paths, const char *position,
                      struct weir_report *report)
{
    int error;
    const char *glob = find_match(paths, position, &error);

    if (glob)
        weir_report_error(report, "position",
                          "%s of `paths` matches it: the source would read its own position", glob);
}

static void check_position(const char *position, struct weir_report *report)
{
    size_t size = strlen(position);

    if (size == 0)
        weir_report_error(report, "position", "is empty");
    else if (position[size - 1] == '/')
        weir_report_error(report, "position", "must be a file, got the folder %s", position);
}

static void check_words(const struct weir_list *globs, const char *option,
                        struct weir_report *report)
{
    for (size_t i = 0; i < globs->count; i++) {
        if (globs->items[i][0] == '\0')
            weir_report_error(report, option, "number %zu is empty", i + 1);
    }
}

void paths_check(const struct weir_list *paths, const struct weir_list *exclude,
                 const char *position, struct weir_report *report)
{
    check_words(paths, "paths", report);
    check_words(exclude, "exclude", report);
    if (!position)
        return;
    check_position(position, report);
    if (!paths_exclude(exclude, position))
        check_own(paths, position, report);
}
