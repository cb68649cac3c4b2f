#include "follower.h"

#include <dirent.h>
#include <fnmatch.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define EXIT_INCOMPLETE 1

const char *follower_change_word(enum on_change on_change)
{
    static const char *const words[] = { "restart", "skip", "stop" };

    return words[on_change];
}

int follower_write(const struct follower *follower, struct bookmark *bookmark)
{
    int status = bookmark_begin(bookmark);

    for (struct followed *file = follower->first; file && status == 0; file = file->next) {
        struct bookmark_entry entry;

        followed_note_head(file);
        entry = followed_entry(file);
        status = bookmark_add(bookmark, &entry);
    }
    return status;
}

static bool is_it(const struct followed *file, const struct bookmark_entry *entry)
{
    return file && (uint64_t)file->inode == entry->inode &&
           followed_has_head(file, entry->head, entry->head_size);
}

/* Opens a file if it is that of the entry. */
static struct followed *try(const char *path, const struct bookmark_entry *entry)
{
    struct followed *file = followed_open(path, entry->path);

    if (is_it(file, entry))
        return file;
    followed_destroy(file);
    return NULL;
}

/* Looks for the inode in the folder where the file was. */
static struct followed *search(const struct bookmark_entry *entry)
{
    char *copy = strdup(entry->path), *folder = copy ? dirname(copy) : NULL;
    DIR *names = folder ? opendir(folder) : NULL;
    struct followed *found = NULL;
    const struct dirent *name;

    while (names && !found && (name = readdir(names))) {
        char *path;

        if ((uint64_t)name->d_ino != entry->inode ||
            asprintf(&path, "%s/%s", folder, name->d_name) < 0)
            continue;
        found = try(path, entry);
        free(path);
    }
    if (names)
        (void)closedir(names);
    free(copy);
    return found;
}

static bool is_in_paths(const struct follower *follower, const char *path)
{
    for (size_t i = 0; i < follower->rules.paths->count; i++) {
        if (fnmatch(follower->rules.paths->items[i], path, FNM_PATHNAME | FNM_PERIOD) == 0)
            return true;
    }
    return false;
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

/* Follows the file that has the path of the entry now, from its end on. */
static void skip_present(struct follower *follower, struct followed *file,
                         const struct bookmark_entry *entry)
{
    if (!file)
        file = followed_open(entry->path, entry->path);
    if (!file)
        return;
    followed_skip(file);
    follower_add(follower, file);
}

/* Takes the file, which may be NULL. The first check finds a replaced file. */
static int follow_changed(struct weir_self *self, struct follower *follower, struct followed *file,
                          const struct bookmark_entry *entry, const char *change)
{
    const enum on_change on_change = follower->rules.on_change;

    weir_log(self, WEIR_LOG_WARNING, "file of the position has changed",
             weir_str("path", entry->path), weir_str("change", change),
             weir_uint("offset", entry->offset),
             weir_str("on_change", follower_change_word(on_change)));
    weir_exit_status(self, EXIT_INCOMPLETE);
    switch (on_change) {
    case ON_CHANGE_RESTART:
        if (file)
            follower_add(follower, file);
        return 0;
    case ON_CHANGE_SKIP:
        skip_present(follower, file, entry);
        return 0;
    case ON_CHANGE_STOP:
        break;
    }
    followed_destroy(file);
    weir_reason(self, "%s is %s since its position was saved, and on_change is stop", entry->path,
                change);
    return WEIR_EREJECTED;
}

static int follow_entry(struct weir_self *self, struct follower *follower,
                        const struct bookmark_entry *entry)
{
    struct followed *file;
    const char *change;

    if (!is_in_paths(follower, entry->path)) {
        weir_log(self, WEIR_LOG_INFO, "file of the position is no longer in paths, and is left",
                 weir_str("path", entry->path));
        return 0;
    }
    file = try(entry->path, entry);
    if (!file)
        file = search(entry);
    change = change_of(file, entry);
    if (change)
        return follow_changed(self, follower, file, entry, change);
    file->offset = file->tried = entry->offset;
    file->number = entry->number;
    file->head = entry->head;
    file->head_size = entry->head_size;
    follower_add(follower, file);
    return 0;
}

int follower_read(struct weir_self *self, struct follower *follower,
                  const struct bookmark *bookmark)
{
    struct bookmark_entry entry;
    size_t place = 0;
    char *path;
    int more, status = 0;

    while (status == 0 && (more = bookmark_next(bookmark, &place, &entry, &path)) != 0) {
        status = more < 0 ? WEIR_EINVALID : follow_entry(self, follower, &entry);
        if (more > 0)
            free(path);
    }
    if (status == 0 && bookmark->size > 0)
        follower->rules.from_end = false;
    return status;
}
