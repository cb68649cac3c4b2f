/* SPDX-License-Identifier: MIT */
/*
 * The files of a bookmark: where they are now.
 *
 * A file is looked for at its path, among the files that `paths` match now (another spelling of the
 * same path, a file that was renamed), and in the folders where it was: that of its path, and that
 * of the target when the path is a link. What cannot be opened, or is on a file system that is not
 * there, has not changed: its entry stays.
 */
#include "follower.h"

#include <errno.h>
#include <glob.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "copies.h"
#include "listing.h"
#include "paths.h"

#define EXIT_INCOMPLETE 1

const char *follower_change_word(enum on_change on_change)
{
    static const char *const words[] = { "restart", "skip", "stop" };

    return words[on_change];
}

int follower_write(const struct follower *follower, struct bookmark *bookmark)
{
    int status = bookmark_begin(bookmark);

    for (const struct missing *missing = follower->missing; missing && status == 0;
         missing = missing->next)
        status = bookmark_add(bookmark, &missing->entry);
    for (struct followed *file = follower->first; file && status == 0; file = file->next)
        status = bookmark_add(bookmark, followed_entry(file));
    return status;
}

/* --- looking for one file --------------------------------------------------------------------- */

static bool is_it(const struct followed *file, const struct bookmark_entry *entry, int *error)
{
    int same;

    if ((uint64_t)file->inode != entry->inode)
        return false;
    same = weir_fingerprint_compare(file->descriptor, &entry->print);
    if (same < 0)
        *error = errno;
    return same > 0;
}

/* True when that path is certainly none of this file. */
static bool is_other(const char *path, const struct bookmark_entry *entry)
{
    struct stat about;

    return stat(path, &about) == 0 &&
           ((uint64_t)about.st_ino != entry->inode || !S_ISREG(about.st_mode));
}

/* Opens a file if it is that of the entry. `*error` is set when it might be, and cannot be
 * reached. */
static struct followed *try(const char *path, const char *name, const struct bookmark_entry *entry,
                            int *error)
{
    struct followed *file = followed_open(path, name);

    if (!file && errno != ENOENT && errno != ENOTDIR && errno != EINVAL) {
        int reason = errno;

        if (!is_other(path, entry))
            *error = reason;
    }
    if (file && is_it(file, entry, error))
        return file;
    followed_destroy(file);
    return NULL;
}

/* Looks for the inode in a folder, which may be NULL. */
static struct followed *search(const char *folder, const struct bookmark_entry *entry, int *error)
{
    struct listing *names = folder && entry->print.size > 0 ? listing_open(folder) : NULL;
    struct followed *found = NULL;
    const struct dirent *name;

    if (!names && folder && entry->print.size > 0 && errno != ENOENT && errno != ENOTDIR)
        *error = errno;
    while (names && !found && (name = listing_next(names))) {
        char *path;

        if ((uint64_t)name->d_ino != entry->inode)
            continue;
        if (asprintf(&path, "%s/%s", folder, name->d_name) < 0) {
            *error = ENOMEM;
            continue;
        }
        found = try(path, entry->path, entry, error);
        free(path);
    }
    listing_close(names);
    return found;
}

/* --- the files that `paths` match now --------------------------------------------------------- */

struct match {
    uint64_t inode;
    char *path; /* owned */
};

struct matches {
    struct match *items; /* owned, by inode */
    size_t count;
    bool is_made;
    int error; /* an errno: some are missing; 0: none */
};

static int by_inode(const void *left, const void *right)
{
    uint64_t a = ((const struct match *)left)->inode, b = ((const struct match *)right)->inode;

    return a < b ? -1 : a > b;
}

static void add_matches(struct matches *matches, const glob_t *found,
                        const struct weir_list *exclude)
{
    struct match *items = realloc(matches->items,
                                  (matches->count + found->gl_pathc + 1) * sizeof *items);

    if (!items) {
        matches->error = ENOMEM;
        return;
    }
    matches->items = items;
    for (size_t i = 0; i < found->gl_pathc; i++) {
        int is_left_out = paths_exclude(exclude, found->gl_pathv[i]);
        char *path = NULL;
        struct stat about;

        if (is_left_out > 0)
            continue;
        if (is_left_out == 0 && stat(found->gl_pathv[i], &about) == 0)
            path = strdup(found->gl_pathv[i]);
        if (path)
            items[matches->count++] = (struct match){ (uint64_t)about.st_ino, path };
        else if (errno != ENOENT && errno != ENOTDIR)
            matches->error = errno;
    }
}

static void find_matches(struct matches *matches, const struct weir_list *paths,
                         const struct weir_list *exclude)
{
    matches->is_made = true;
    for (size_t i = 0; i < paths->count; i++) {
        glob_t found = { .gl_pathc = 0 };
        struct paths_trouble trouble;

        if (paths_glob(paths->items[i], &found, &trouble) == 0)
            add_matches(matches, &found, exclude);
        if (trouble.error != 0)
            matches->error = trouble.error;
        globfree(&found);
    }
    if (matches->count > 0)
        qsort(matches->items, matches->count, sizeof *matches->items, by_inode);
}

static void forget_matches(struct matches *matches)
{
    for (size_t i = 0; i < matches->count; i++)
        free(matches->items[i].path);
    free(matches->items);
}

static struct followed *try_matches(const struct matches *matches,
                                    const struct bookmark_entry *entry, int *error)
{
    const struct match wanted = { .inode = entry->inode }, *item = NULL;
    const struct match *end = matches->items + matches->count;
    struct followed *file = NULL;

    if (matches->count > 0)
        item = bsearch(&wanted, matches->items, matches->count, sizeof wanted, by_inode);
    while (item && item > matches->items && item[-1].inode == entry->inode)
        item--;
    for (; item && item < end && item->inode == entry->inode && !file; item++)
        file = try(item->path, item->path, entry, error);
    return file;
}

/* The copy of a file that was copied and truncated; it goes on where the file was. */
static struct followed *try_copies(const struct follower *follower, const struct matches *matches,
                                   const struct bookmark_entry *entry, int *error)
{
    for (size_t i = 0; i < matches->count; i++) {
        const char *path = matches->items[i].path;
        struct followed *file;
        int has = 0;

        if (!copies_is_name_of(path, entry->path))
            continue;
        file = followed_open(path, path);
        if (file && !follower_find(follower, file->device, file->inode))
            has = copies_has(file, entry);
        if (has > 0)
            return file;
        if (has < 0 || (!file && weir_is_short(errno)))
            *error = errno;
        followed_destroy(file);
    }
    return NULL;
}

/* --- one entry -------------------------------------------------------------------------------- */

/* Where the file of an entry is; `error` is 0 when that is certain. */
struct place {
    struct followed *file; /* NULL: nowhere */
    bool is_left;          /* none of `paths` matches it now */
    int error;
};

static char *folder_of(const char *path)
{
    char *copy = strdup(path), *folder = copy ? strdup(dirname(copy)) : NULL;

    free(copy);
    return folder;
}

static struct place find_place(struct follower *follower, const struct bookmark_entry *entry,
                               struct matches *matches)
{
    const struct weir_list *paths = follower->rules.paths;
    struct place place = { .is_left = false };
    int is_wanted = paths_have(paths, entry->path), is_left_out = 0;
    char *folder;

    if (is_wanted > 0)
        is_left_out = paths_exclude(follower->rules.exclude, entry->path);
    if (is_wanted < 0 || is_left_out < 0)
        place.error = errno;
    if (!follower_may_open(follower))
        place.error = EMFILE;
    if (place.error != 0)
        return place;
    place.is_left = !is_wanted || is_left_out;
    folder = folder_of(entry->path);
    if (!folder)
        place.error = ENOMEM;
    if (!place.is_left)
        place.file = try(entry->path, entry->path, entry, &place.error);
    if (!place.file) {
        if (!matches->is_made)
            find_matches(matches, paths, follower->rules.exclude);
        place.file = try_matches(matches, entry, &place.error);
        if (!place.file && matches->error)
            place.error = matches->error;
    }
    if (!place.file && !place.is_left)
        place.file = search(folder, entry, &place.error);
    if (!place.file && !place.is_left)
        place.file = search(entry->folder, entry, &place.error);
    free(folder);
    return place;
}

/* How a file differs from its entry; NULL: it does not, or has another name only. */
static const char *change_of(const struct followed *file, const struct bookmark_entry *entry)
{
    struct stat about;

    if (!file && stat(entry->path, &about) < 0)
        return "gone";
    if (!file)
        return about.st_ino == (ino_t)entry->inode ? "truncated" : "replaced";
    return file->size < entry->offset ? "truncated" : NULL;
}

static void log_change(struct weir_self *self, const struct follower *follower,
                       const struct bookmark_entry *entry, const char *change)
{
    weir_log(self, WEIR_LOG_WARNING, "file of the position has changed",
             weir_str("path", entry->path), weir_str("change", change),
             weir_uint("offset", entry->offset),
             weir_int("unread_bytes", bookmark_entry_unread(entry)),
             weir_str("on_change", follower_change_word(follower->rules.on_change)));
    weir_exit_status(self, EXIT_INCOMPLETE);
}

/* Nothing was unread when the position was saved, and no line of the file that is there now is left
 * out. Lines that came later may be lost: a rotation while no host ran leaves no trace of them. */
static bool may_be_a_rotation(enum on_change on_change, const struct bookmark_entry *entry,
                              const char *change)
{
    return bookmark_entry_unread(entry) == 0 &&
           ((on_change == ON_CHANGE_RESTART && strcmp(change, "truncated") != 0) ||
            (on_change == ON_CHANGE_SKIP && strcmp(change, "gone") == 0));
}

/* Takes the file, which may be NULL. The next look at the files finds a replaced file. */
static int follow_changed(struct weir_self *self, struct follower *follower, struct followed *file,
                          const struct bookmark_entry *entry, const char *change)
{
    const enum on_change on_change = follower->rules.on_change;

    if (may_be_a_rotation(on_change, entry, change))
        weir_log(self, WEIR_LOG_WARNING,
                 "file of the position is gone; no line was unread when it was saved",
                 weir_str("path", entry->path), weir_str("change", change),
                 weir_uint("offset", entry->offset));
    else
        log_change(self, follower, entry, change);
    switch (on_change) {
    case ON_CHANGE_RESTART:
        if (file)
            follower_add(follower, file);
        return 0;
    case ON_CHANGE_SKIP:
        if (file) {
            followed_skip(file);
            follower_add(follower, file);
        }
        return 0;
    case ON_CHANGE_STOP:
        break;
    }
    followed_destroy(file);
    weir_reason(self, "the file is %s, and on_change is stop", change); /* its path is in the log */
    return WEIR_EREJECTED;
}

static void go_on_at(struct followed *file, const struct bookmark_entry *entry)
{
    file->offset = file->tried = entry->offset;
    file->number = entry->number;
    file->print = entry->print;
}

static void log_missing(struct weir_self *self, struct missing *missing, int error)
{
    char text[128];
    const char *reason = error != 0 ? strerror_r(error, text, sizeof text)
                                    : "its file system is not there";

    if (!missing->is_logged)
        weir_log(self, WEIR_LOG_WARNING, "file of the position cannot be reached",
                 weir_str("path", missing->entry.path), weir_str("reason", reason),
                 weir_str("effect", "its position is kept"));
    missing->is_logged = true;
    weir_exit_status(self, EXIT_INCOMPLETE);
}

/* Takes the file, and `present`, which with `skip` has the path of a file that is nowhere. */
static int settle_place(struct weir_self *self, struct follower *follower,
                        const struct bookmark_entry *entry, struct followed *file,
                        struct followed *present)
{
    const char *change = change_of(file, entry);

    if (!file || change)
        return follow_changed(self, follower, file ? file : present, entry, change);
    go_on_at(file, entry);
    follower_add(follower, file);
    return 0;
}

static bool is_followed(const struct follower *follower, const struct followed *file)
{
    return file && follower_find(follower, file->device, file->inode);
}

/* The file that has the path of the entry now. NULL: there is none, or it is followed already; with
 * `*error` it cannot be opened. */
static struct followed *open_present(const struct follower *follower,
                                     const struct bookmark_entry *entry, int *error)
{
    struct followed *file = followed_open(entry->path, entry->path);

    if (!file && errno != ENOENT && errno != ENOTDIR && errno != EINVAL && errno != ENXIO)
        *error = errno;
    if (!is_followed(follower, file))
        return file;
    followed_destroy(file);
    return NULL;
}

/* A file has been found on a device of another number than before: the machine has numbered that
 * device again, and it is there. */
static void note_device(struct follower *follower, const struct bookmark_entry *entry,
                        const struct followed *file)
{
    const uint64_t before = entry->device;

    if (before == (uint64_t)file->device || before == 0)
        return;
    for (struct missing *missing = follower->missing; missing; missing = missing->next) {
        if (missing->entry.device == before)
            missing->entry.device = 0;
    }
}

/* While no host ran, the file was copied and truncated: the next look finds it with new lines. */
static bool follow_copy(struct weir_self *self, struct follower *follower,
                        const struct bookmark_entry *entry, const struct matches *matches,
                        int *error)
{
    struct followed *copy = try_copies(follower, matches, entry, error);

    if (!copy)
        return false;
    weir_log(self, WEIR_LOG_INFO, "file was copied and truncated", weir_str("path", entry->path),
             weir_str("copy", copy->path));
    follower_add(follower, copy);
    return true;
}

/* 1: the entry stays; 0: it is settled; negative: as follower_read. Without `is_sure` the entry of
 * a file that is not found stays. */
static int recall(struct weir_self *self, struct follower *follower, struct missing *missing,
                  struct matches *matches, bool is_sure)
{
    const struct bookmark_entry *entry = &missing->entry;
    struct place place = find_place(follower, entry, matches);
    struct followed *present = NULL;

    if (place.file)
        note_device(follower, entry, place.file);
    if (is_followed(follower, place.file)) { /* two entries of one file */
        followed_destroy(place.file);
        return 0;
    }
    if (place.file)
        return settle_place(self, follower, entry, place.file, NULL);
    if (!is_sure)
        return 1;
    if (place.is_left) {
        weir_log(self, WEIR_LOG_INFO, "file of the position is no longer in paths, and is left",
                 weir_str("path", entry->path));
        return 0;
    }
    if (place.error == 0 && bookmark_entry_has_its_device(entry)) {
        if (follow_copy(self, follower, entry, matches, &place.error))
            return 0;
        if (place.error == 0 && follower->rules.on_change == ON_CHANGE_SKIP)
            present = open_present(follower, entry, &place.error);
        if (place.error == 0)
            return settle_place(self, follower, entry, NULL, present);
    }
    if (weir_is_short(place.error)) {
        follower_lacks(self, follower, entry->path, place.error);
        return 1;
    }
    log_missing(self, missing, place.error);
    return 1;
}

/* The file at its path, if that is still the same one. */
static int open_again(const struct followed *file)
{
    struct followed *found = followed_open(file->path, file->path);
    int descriptor = -1;

    if (found && found->inode == file->inode && found->device == file->device) {
        descriptor = found->descriptor;
        found->descriptor = -1;
    } else if (found) {
        errno = ENOENT;
    }
    followed_destroy(found);
    return descriptor;
}

int follower_reopen(struct follower *follower, struct followed *file)
{
    int error = 0;
    struct followed *found;

    file->descriptor = open_again(file);
    follower->open += file->descriptor >= 0;
    if (file->descriptor >= 0)
        return 0;
    if (weir_is_short(errno))
        return errno;
    found = search(file->folder, followed_entry(file), &error);
    if (!found)
        return error ? error : ENOENT;
    file->descriptor = found->descriptor;
    follower->open++;
    found->descriptor = -1;
    followed_destroy(found);
    return 0;
}

/* --- all entries ------------------------------------------------------------------------------ */

static void forget(struct missing **link, struct missing *missing)
{
    *link = missing->next;
    bookmark_entry_finish(&missing->entry);
    free(missing);
}

void follower_forget_missing(struct follower *follower)
{
    while (follower->missing)
        forget(&follower->missing, follower->missing);
}

static int recall_all(struct weir_self *self, struct follower *follower, struct matches *matches,
                      bool is_sure)
{
    struct missing **link = &follower->missing;
    struct missing *missing;

    while ((missing = *link)) {
        int status = recall(self, follower, missing, matches, is_sure);

        if (status < 0)
            return status;
        if (status > 0)
            link = &missing->next;
        else
            forget(link, missing);
    }
    return 0;
}

int follower_recall(struct weir_self *self, struct follower *follower)
{
    struct matches matches = { .items = NULL };
    int status = recall_all(self, follower, &matches, true);

    forget_matches(&matches);
    return status;
}

int follower_claim(struct follower *follower, struct followed *file)
{
    struct missing **link = &follower->missing;
    int error = 0;

    while (*link && !is_it(file, &(*link)->entry, &error))
        link = &(*link)->next;
    if (!*link) {
        errno = error;
        return error ? -1 : 0;
    }
    go_on_at(file, &(*link)->entry);
    forget(link, *link);
    return 1;
}

static int read_entries(struct follower *follower, const struct bookmark *bookmark)
{
    struct missing **link = &follower->missing;
    struct bookmark_entry entry;
    size_t place = 0;
    int more;

    while ((more = bookmark_next(bookmark, &place, &entry)) > 0) {
        *link = calloc(1, sizeof **link);
        if (!*link) {
            bookmark_entry_finish(&entry);
            return WEIR_ENOMEM;
        }
        (*link)->entry = entry;
        link = &(*link)->next;
    }
    return more;
}

int follower_read(struct weir_self *self, struct follower *follower,
                  const struct bookmark *bookmark)
{
    struct matches matches = { .items = NULL };
    int status = read_entries(follower, bookmark);

    follower->self = self;
    if (status == 0)
        status = recall_all(self, follower, &matches, false);
    if (status == 0)
        status = recall_all(self, follower, &matches, true);
    forget_matches(&matches);
    if (status < 0)
        follower_forget_missing(follower);
    if (status == 0 && bookmark->size > 0)
        follower->rules.from_end = false;
    return status;
}
