/* SPDX-License-Identifier: MIT */
#include "follower.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Between two checks of all files, for changes that give no event: by a mapping of the file, or
 * under a name in another folder. */
#define FULL_MS 30000u

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
    follower_match(self, follower); /* a renamed file may match under its new name */
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
