/* SPDX-License-Identifier: MIT */
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
/* Between two checks of all files, for changes that give no event: by a mapping of the file, or
 * under a name in another folder. */
#define FULL_MS 30000u
/* In the place of an errno: the host writes the file. */
#define IS_OWN (-1)

void follower_init(struct follower *follower, const struct follower_rules *rules)
{
    *follower = (struct follower){ .rules = *rules, .bucket_count = FOLLOWER_FEW };
    follower->buckets = follower->few;
    notice_init(&follower->notice);
}

/* --- the files -------------------------------------------------------------------------------- */

static struct followed **bucket_of(const struct follower *follower, ino_t inode)
{
    return &follower->buckets[(uint64_t)inode & (follower->bucket_count - 1)];
}

struct followed *follower_find(const struct follower *follower, dev_t device, ino_t inode)
{
    struct followed *file = *bucket_of(follower, inode);

    while (file && (file->inode != inode || file->device != device))
        file = file->next_in_bucket;
    return file;
}

static void put_in_index(struct follower *follower, struct followed *file)
{
    struct followed **bucket = bucket_of(follower, file->inode);

    file->next_in_bucket = *bucket;
    *bucket = file;
}

static void take_from_index(struct follower *follower, struct followed *file)
{
    struct followed **link = bucket_of(follower, file->inode);

    while (*link != file)
        link = &(*link)->next_in_bucket;
    *link = file->next_in_bucket;
}

static void free_buckets(struct follower *follower)
{
    if (follower->buckets != follower->few)
        free(follower->buckets);
}

/* Keeps at least as many buckets as there are files. Without memory the chains get longer. */
static void grow_index(struct follower *follower)
{
    uint32_t count = follower->bucket_count * 2;
    struct followed **buckets;

    if (follower->count < follower->bucket_count)
        return;
    buckets = calloc(count, sizeof(struct followed *));
    if (!buckets)
        return;
    free_buckets(follower);
    follower->buckets = buckets;
    follower->bucket_count = count;
    for (struct followed *file = follower->first; file; file = file->next)
        put_in_index(follower, file);
}

void follower_clear(struct follower *follower)
{
    while (follower->first) {
        struct followed *file = follower->first;

        follower->first = file->next;
        followed_destroy(file);
    }
    free_buckets(follower);
    memset(follower->few, 0, sizeof follower->few);
    follower->buckets = follower->few;
    follower->bucket_count = FOLLOWER_FEW;
    follower->count = follower->open = 0;
    follower->last = NULL;
    follower->chosen = NULL;
    follower->is_restless = true;
    follower_forget_missing(follower);
}

void follower_add(struct follower *follower, struct followed *file)
{
    struct followed **link = follower->last ? follower->last : &follower->first;

    grow_index(follower);
    follower->changed = true;
    *link = file;
    follower->last = &file->next;
    follower->count++;
    follower->open++;
    put_in_index(follower, file);
}

/* --- looking ---------------------------------------------------------------------------------- */

void follower_finish(struct follower *follower)
{
    follower_clear(follower);
    unreadable_forget(&follower->unreadable, true);
    notice_finish(&follower->notice);
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

/* The position, or a file beside it: the check has not seen that a glob leads to it. */
static bool is_position(const struct follower *follower, const struct stat *about)
{
    static const char *const ends[] = { "", ".lock", ".new" };
    bool is_one = false;

    for (size_t i = 0; follower->rules.position && !is_one && i < sizeof ends / sizeof *ends; i++) {
        struct stat position;
        char *path;

        if (asprintf(&path, "%s%s", follower->rules.position, ends[i]) < 0)
            return true; /* looked at again */
        is_one = lstat(path, &position) == 0 && position.st_ino == about->st_ino &&
                 position.st_dev == about->st_dev;
        free(path);
    }
    return is_one;
}

/* True for a file that a wildcard has found and that the host writes: each line that is handled
 * would make another one. */
static bool is_own(struct weir_self *self, struct follower *follower, const char *glob,
                   const char *path, const struct stat *about)
{
    if (is_position(follower, about))
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
        }
    }
    return count;
}

static void look_for_files(struct weir_self *self, struct follower *follower)
{
    for (size_t i = 0; i < follower->rules.paths->count; i++) {
        const char *pattern = follower->rules.paths->items[i];
        glob_t found = { .gl_pathc = 0 };
        int status = paths_glob(pattern, 0, &found);
        size_t count = status == 0 ? look_at_matches(self, follower, pattern, &found) : 0;

        if (status == GLOB_NOSPACE)
            follower_lacks(self, follower, pattern, EMFILE);
        else if (count == 0 && !follower->has_looked)
            log_no_match(self, follower, pattern);
        globfree(&found);
    }
    follower->rules.from_end = false;
    follower->has_looked = true;
    unreadable_forget(&follower->unreadable, false);
    own_forget(&follower->own);
}

/* A name that cannot be looked up has not changed. */
static bool has_its_name(const struct followed *file)
{
    struct stat about;

    if (stat(file->path, &about) < 0)
        return errno != ENOENT && errno != ENOTDIR;
    return about.st_ino == file->inode && about.st_dev == file->device;
}

/* The file is at its start again. */
static void was_truncated(struct weir_self *self, struct follower *follower, struct followed *file)
{
    const enum on_change on_change = follower->rules.on_change;

    weir_log(self, on_change == ON_CHANGE_RESTART ? WEIR_LOG_INFO : WEIR_LOG_WARNING,
             "file was truncated", weir_str("path", file->path),
             weir_str("on_change", follower_change_word(on_change)));
    if (on_change == ON_CHANGE_SKIP)
        followed_skip(file);
    if (on_change == ON_CHANGE_STOP && !follower->stops)
        weir_reason(self, "%s was truncated, and on_change is stop", file->path);
    follower->stops |= on_change == ON_CHANGE_STOP;
}

static void look_at_file(struct weir_self *self, struct follower *follower, struct followed *file)
{
    uint64_t size = file->size;

    if (!file->is_gone && !has_its_name(file)) {
        file->is_gone = true;
        follower->is_restless = true;
        file->quiet_ms = follower->now_ms;
        follower->rotations++;
    }
    if (!follower_wake(self, follower, file))
        return;
    if (followed_look(file)) {
        follower->truncations++;
        follower->is_restless = true; /* its copy is looked for before a position is saved */
        was_truncated(self, follower, file);
    }
    if (file->size != size)
        file->quiet_ms = follower->now_ms;
    /* Half a line at the end of a file that grows no more is a line. */
    if ((file->read_error != 0 || follower_is_ending(follower, file)) && file->offset < file->size)
        file->tried = file->offset;
}

static bool is_finished(const struct follower *follower, const struct followed *file)
{
    bool may_have_more = file->descriptor < 0 && follower->is_short;

    return follower_is_ending(follower, file) && !file->first && file->offset >= file->size &&
           !may_have_more;
}

static void drop_finished(struct follower *follower)
{
    struct followed **link = &follower->first;

    while (*link) {
        struct followed *file = *link;

        if (is_finished(follower, file)) {
            *link = file->next;
            if (follower->last == &file->next)
                follower->last = link == &follower->first ? NULL : link;
            take_from_index(follower, file);
            follower->count--;
            follower->open -= file->descriptor >= 0;
            follower->changed = true;
            if (follower->chosen == file)
                follower->chosen = NULL;
            followed_destroy(file);
        } else {
            link = &file->next;
        }
    }
}

/* A file that is gone is looked at until it ends; then it is followed until its lines are
 * settled. */
static uint32_t count_former(struct follower *follower)
{
    uint32_t count = 0;

    for (const struct followed *file = follower->first; file; file = file->next) {
        count += file->is_gone || file->former;
        follower->is_restless |= file->is_gone &&
                                 (!follower_is_ending(follower, file) || file->offset < file->size);
    }
    return count;
}

/* Before the check: the next check sees what changes during this one. */
static void watch_globs(struct follower *follower)
{
    notice_begin(&follower->notice);
    for (size_t i = 0; i < follower->rules.paths->count; i++)
        notice_glob(&follower->notice, follower->rules.paths->items[i]);
}

/* The folders of files, which are others than those of their names when these are links. */
static void watch_files(struct follower *follower)
{
    const char *last = NULL;

    for (const struct followed *file = follower->first; file; file = file->next) {
        if (!last || !file->folder || strcmp(last, file->folder) != 0)
            notice_folder(&follower->notice, file->folder);
        last = file->folder;
    }
}

static void look_at_all(struct weir_self *self, struct follower *follower)
{
    if (follower->is_short)
        follower_park(follower);
    follower->is_short = follower->is_restless = false;
    follower->full_ms = follower->now_ms;
    follower->checks++;
    watch_globs(follower);
    if (follower->missing && follower_recall(self, follower) == WEIR_EREJECTED)
        follower->stops = true;
    for (struct followed *file = follower->first; file; file = file->next)
        look_at_file(self, follower, file);
    look_for_files(self, follower); /* a renamed file may match under its new name */
    drop_finished(follower);
    watch_files(follower);
    follower->former = count_former(follower);
    follower->is_restless |= follower->missing || follower->unreadable;
    follower->is_short_logged &= follower->is_short;
    follower_trim_share(follower);
}

struct check {
    struct weir_self *self;
    struct follower *follower;
};

/* For notice_read. */
static void was_written(void *context, const char *path)
{
    const struct check *check = context;
    struct followed *file = NULL;
    struct stat about;

    if (stat(path, &about) == 0)
        file = follower_find(check->follower, about.st_dev, about.st_ino);
    else
        check->follower->is_restless = true;
    if (file)
        look_at_file(check->self, check->follower, file);
}

bool follower_look(struct weir_self *self, struct follower *follower, uint64_t now_ms)
{
    struct check check = { self, follower };
    bool all;

    follower->self = self;
    follower->now_ms = now_ms;
    follower->changed = false;
    all = notice_read(&follower->notice, was_written, &check);
    if (all || follower->is_restless || !follower->has_looked ||
        now_ms - follower->full_ms >= FULL_MS)
        look_at_all(self, follower);
    else if (follower->former > 0)
        drop_finished(follower);
    return follower->changed;
}

bool follower_is_ending(const struct follower *follower, const struct followed *file)
{
    return file->is_gone && follower->now_ms - file->quiet_ms >= follower->rules.rotate_wait;
}

/* --- choosing --------------------------------------------------------------------------------- */

/* True when this file had the name before, and lost it. */
static bool had_name(const struct followed *file, const char *name)
{
    const char *had = file->is_gone ? file->path : file->former;

    return had && strcmp(had, name) == 0;
}

/* True when an older file of the same name has more. */
static bool has_older(const struct follower *follower, const struct followed *file)
{
    if (follower->former == 0)
        return false;
    for (const struct followed *older = follower->first; older != file; older = older->next) {
        if (followed_has_more(older) && had_name(older, file->path))
            return true;
    }
    return false;
}

struct followed *follower_choose(struct follower *follower)
{
    struct followed *file = follower->chosen ? follower->chosen->next : NULL;
    uint32_t left = follower_count(follower);

    for (; left > 0; left--, file = file->next) {
        if (!file)
            file = follower->first;
        if (followed_has_more(file) && followed_window(file) < follower->rules.window &&
            !has_older(follower, file)) {
            follower->chosen = file;
            return file;
        }
    }
    return NULL;
}

/* --- figures ---------------------------------------------------------------------------------- */

uint32_t follower_count(const struct follower *follower)
{
    return follower->count;
}

uint64_t follower_behind(const struct follower *follower)
{
    uint64_t bytes = 0;

    for (const struct followed *file = follower->first; file; file = file->next)
        bytes += file->size > file->offset ? file->size - file->offset : 0;
    return bytes;
}
