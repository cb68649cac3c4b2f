/* SPDX-License-Identifier: MIT */
/*
 * paths.h - the rules for the options `paths`, `exclude` and `position` of both sources.
 *
 * For `check` the rules concern the words of the options, not the files, which may be on another
 * machine. Any thread.
 */
#ifndef PATHS_H
#define PATHS_H

#include <glob.h>
#include <limits.h>

#include <weir/plugin.h>

/* Reports an empty path, and a `position` (NULL: none) that no file can have, or that is one of the
 * files to read. Borrows. */
void paths_check(const struct weir_list *paths, const struct weir_list *exclude,
                 const char *position, struct weir_report *report);

/* 1 when one of the globs matches the path, in its spelling or with the links of its folder and of
 * the glob's folder resolved; 0: none does; -1: errno: a folder cannot be reached, so it may. */
int paths_have(const struct weir_list *paths, const char *path);
/* 1 when one of the globs of `exclude` matches: likewise, or, when the glob has no slash, the name
 * of the file; 0: none does; -1: errno: the host is short of what it needs to know. */
int paths_exclude(const struct weir_list *exclude, const char *path);
/* True for a glob that only matches itself. */
bool paths_is_plain(const char *glob);

/* The first folder or name of a glob that could not be looked up, so that it may have matches. */
struct paths_trouble {
    int error; /* an errno; 0: none, so that what is not among the matches is not there */
    char path[PATH_MAX];
};

/* Appends the matches, sorted by bytes, to those of `out`, which may be zeroed memory. Returns an
 * errno when the host lacks a descriptor or memory; `out` is to be freed then, too. */
int paths_glob(const char *pattern, glob_t *out, struct paths_trouble *out_trouble);
/* Logs a trouble that is no shortage, and asks for the exit code of what is not complete. */
void paths_log_trouble(struct weir_self *self, const char *pattern,
                       const struct paths_trouble *trouble, const char *effect);
/* Returns owned: the folder that the file is in, links resolved; NULL: it is not there, or memory
 * is out. */
char *paths_folder(const char *path);

#endif
