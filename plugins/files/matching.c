/* SPDX-License-Identifier: MIT */
/*
 * The files that `paths` match now: new ones are followed, renamed ones are followed on.
 */
#include "follower.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "copies.h"
#include "paths.h"
#include "reader.h"

#define EXIT_INCOMPLETE 1
/* In the place of an errno: the host writes the file. */
#define IS_OWN (-1)

/* Of what has no inode that could be looked up: no file has the device 0. */
static struct stat identity_of_path(const char *path)
{
    return (struct stat){ .st_ino = weir_key(path, strlen(path)) };
}

/* Logs it once, and again when the reason changes. */
static void log_unreadable(struct weir_self *self, struct follower *follower, const char *path,
                           const struct stat *about, int error)
{
    char text[128];

    if (unreadable_is_known(&follower->unreadable, about, error))
        return;
    weir_log(self, WEIR_LOG_WARNING, "file cannot be read", weir_str("path", path),
             weir_str("reason", strerror_r(error, text, sizeof text)));
    weir_exit_status(self, EXIT_INCOMPLETE);
}

/* Likewise when nobody can know now. */
static bool is_excluded(struct weir_self *self, struct follower *follower, const char *path)
{
    int is_left_out = paths_exclude(follower->rules.exclude, path);

    if (is_left_out < 0)
        follower_lacks(self, follower, path, errno);
    return is_left_out != 0;
}

/* A file that was renamed, and matches under its new name, too, is followed on. */
static void has_new_name(struct weir_self *self, struct follower *follower, struct followed *file,
                         const char *path)
{
    char *copy;

    if (!file->is_gone || is_excluded(self, follower, path))
        return;
    copy = strdup(path);
    if (!copy) {
        follower_lacks(self, follower, path, ENOMEM);
        return;
    }
    free(file->former);
    file->former = file->path;
    file->path = copy;
    file->is_gone = false;
    follower->changed = true;
}

/* 0 or an errno. */
static int why_no_file(const char *path, struct stat *out_about)
{
    if (stat(path, out_about) < 0)
        return errno;
    return reader_why_not(out_about);
}

static void log_no_file(struct weir_self *self, const char *path, int error)
{
    char text[128];

    weir_log(self, WEIR_LOG_WARNING, "file cannot be opened; skipped", weir_str("path", path),
             weir_str("reason", strerror_r(error, text, sizeof text)));
    weir_exit_status(self, EXIT_INCOMPLETE);
}

/* 1: the position, or a file beside it; the check has not seen that a glob leads to it. -1: it may
 * be, and the host lacks what it needs to know: errno. */
static int is_position(const struct follower *follower, const struct stat *about)
{
    static const char *const ends[] = { "", ".lock", ".new" };

    for (size_t i = 0; follower->rules.position && i < sizeof ends / sizeof *ends; i++) {
        struct stat position;
        char *path;
        int error = 0;

        if (asprintf(&path, "%s%s", follower->rules.position, ends[i]) < 0) {
            errno = ENOMEM;
            return -1;
        }
        if (lstat(path, &position) < 0)
            error = errno;
        free(path);
        if (error == 0 && position.st_ino == about->st_ino && position.st_dev == about->st_dev)
            return 1;
        errno = error;
        if (weir_is_short(error))
            return -1;
    }
    return 0;
}

/* True for a file that a wildcard has found and that the host writes, or may write: each line that
 * is handled would make another one. */
static bool is_own(struct weir_self *self, struct follower *follower, const char *glob,
                   const char *path, const struct stat *about)
{
    const int is_its_position = is_position(follower, about);

    if (is_its_position < 0)
        follower_lacks(self, follower, path, errno);
    if (is_its_position != 0)
        return true;
    if (!own_is_known(&follower->own)) {
        follower_lacks(self, follower, path, EMFILE);
        return true;
    }
    if (paths_is_plain(glob) || !own_has(&follower->own, about))
        return false;
    if (!unreadable_is_known(&follower->unreadable, about, IS_OWN))
        weir_log(self, WEIR_LOG_WARNING, "file is written by this host, and is left out",
                 weir_str("path", path), weir_str("paths", glob),
                 weir_str("hint", "exclude it, or name it without a wildcard"));
    return true;
}

/* A file of /proc: its end is not where its size says. */
static bool has_no_size(const struct followed *file)
{
    struct stat about;
    char byte;

    return file->size == 0 && pread(file->descriptor, &byte, 1, 0) == 1 &&
           fstat(file->descriptor, &about) == 0 && about.st_size == 0;
}

static void follow_new(struct weir_self *self, struct follower *follower, const char *path,
                       const struct stat *about)
{
    struct followed *file;
    int claims;

    if (!follower_may_open(follower)) {
        follower_lacks(self, follower, path, EMFILE);
        return;
    }
    file = followed_open(path, path);
    if (!file) {
        if (weir_is_short(errno))
            follower_lacks(self, follower, path, errno);
        else if (errno != ENOENT)
            log_unreadable(self, follower, path, about, errno);
        return;
    }
    if (file->inode != about->st_ino || file->device != about->st_dev) {
        followed_destroy(file); /* just renamed: the next check finds it */
        follower->is_restless = true;
        return;
    }
    if (has_no_size(file)) {
        followed_destroy(file);
        log_unreadable(self, follower, path, about, ENOTSUP);
        return;
    }
    claims = follower_claim(follower, file);
    if (claims == 0)
        claims = copies_claim(follower, file);
    if (claims < 0) {
        log_unreadable(self, follower, path, about, errno);
        followed_destroy(file);
        return;
    }
    if (!claims) {
        if (copies_may_be(follower, file)) { /* the next check knows more */
            follower->is_restless = true;
            followed_destroy(file);
            return;
        }
        if (follower->rules.from_end)
            followed_skip(file);
    }
    (void)followed_note(file);
    file->changed = about->st_mtim;
    follower_add(follower, file);
}

static void look_at_match(struct weir_self *self, struct follower *follower, const char *glob,
                          const char *path, const struct stat *about)
{
    struct followed *file = follower_find(follower, about->st_dev, about->st_ino);

    if (file)
        has_new_name(self, follower, file, path);
    else if (!follower->is_short && !is_excluded(self, follower, path) &&
             !is_own(self, follower, glob, path, about))
        follow_new(self, follower, path, about);
}

/* Logs it once, and again when the reason changes. */
static void log_trouble(struct weir_self *self, struct follower *follower, const char *pattern,
                        const struct paths_trouble *trouble)
{
    const struct stat about = identity_of_path(trouble->path);

    if (!unreadable_is_known(&follower->unreadable, &about, trouble->error))
        paths_log_trouble(self, pattern, trouble,
                          follower->rules.ends ? "its files are left out"
                                               : "its files are read once it can be");
}

/* At the first check: later, a glob has no match whenever its files were removed. */
static void log_no_match(struct weir_self *self, const struct follower *follower, const char *glob)
{
    if (!follower->rules.ends) {
        weir_log(self, WEIR_LOG_INFO, "no file matches yet", weir_str("paths", glob));
        return;
    }
    weir_log(self, WEIR_LOG_WARNING, "no file matches", weir_str("paths", glob));
    weir_exit_status(self, EXIT_INCOMPLETE);
}

/* Returns the number of files among the matches; a folder is none. */
static size_t look_at_matches(struct weir_self *self, struct follower *follower, const char *glob,
                              const glob_t *matches)
{
    size_t count = 0;

    for (size_t i = 0; i < matches->gl_pathc; i++) {
        const char *path = matches->gl_pathv[i];
        struct stat about;
        int error = why_no_file(path, &about);

        if (error == 0) {
            look_at_match(self, follower, glob, path, &about);
            count++;
        } else if (weir_is_short(error)) {
            follower_lacks(self, follower, path, error);
            count++;
        } else if (follower->rules.ends && !follower->has_looked) {
            log_no_file(self, path, error);
            count++; /* in the log */
        } else if (error != ENOENT && error != ENOTDIR && error != EISDIR && error != EINVAL) {
            about = identity_of_path(path);
            log_unreadable(self, follower, path, &about, error);
            count++;
        }
    }
    return count;
}

void follower_match(struct weir_self *self, struct follower *follower)
{
    for (size_t i = 0; i < follower->rules.paths->count; i++) {
        const char *pattern = follower->rules.paths->items[i];
        glob_t found = { .gl_pathc = 0 };
        struct paths_trouble trouble;
        int error = paths_glob(pattern, &found, &trouble);
        size_t count = error == 0 ? look_at_matches(self, follower, pattern, &found) : 0;

        if (error != 0)
            follower_lacks(self, follower, trouble.path, error);
        else if (trouble.error != 0)
            log_trouble(self, follower, pattern, &trouble);
        else if (count == 0 && !follower->has_looked)
            log_no_match(self, follower, pattern);
        globfree(&found);
    }
    follower->rules.from_end = false;
    follower->has_looked = true;
    unreadable_forget(&follower->unreadable, false);
    own_forget(&follower->own);
}
