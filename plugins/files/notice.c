/* SPDX-License-Identifier: MIT */
#include "notice.h"

#include <errno.h>
#include <glob.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "paths.h"

#define NAMES (IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO)
#define SELF (IN_DELETE_SELF | IN_MOVE_SELF)
/* Bytes of events that are taken at once; more than a name of 255 bytes needs. */
#define EVENTS_SIZE ((size_t)16 * 1024)
/* Reads of events in one check: beyond, everything is looked at. The kernel keeps 16,384 events. */
#define READS_MAX 64u

struct notice_folder {
    int watch;
    char *path; /* owned */
};

void notice_init(struct notice *notice)
{
    *notice = (struct notice){ .descriptor = -1, .is_blind = true };
}

void notice_finish(struct notice *notice)
{
    if (notice->descriptor >= 0)
        (void)close(notice->descriptor);
    for (size_t i = 0; i < notice->count; i++)
        free(notice->folders[i].path);
    free(notice->folders);
    notice_init(notice);
}

void notice_begin(struct notice *notice)
{
    if (notice->descriptor < 0)
        notice->descriptor = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    notice->is_blind = notice->descriptor < 0;
    notice->has_new = false;
}

/* True for file systems whose changes all pass through this kernel. */
static bool is_local(const char *path)
{
    static const uint32_t types[] = {
        0xef53,     /* ext2, ext3, ext4 */
        0x58465342, /* xfs */
        0x9123683e, /* btrfs */
        0xf2f52010, /* f2fs */
        0x2fc12fc1, /* zfs */
        0x01021994, /* tmpfs */
        0x858458f6, /* ramfs */
        0x794c7630, /* overlayfs */
    };
    struct statfs about;

    if (statfs(path, &about) < 0)
        return false;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if ((uint32_t)about.f_type == types[i])
            return true;
    }
    return false;
}

/* The index of the first folder whose watch is not below this one. */
static size_t place_of(const struct notice *notice, int watch)
{
    size_t low = 0, high = notice->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (notice->folders[middle].watch < watch)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct notice_folder *find(const struct notice *notice, int watch)
{
    size_t place = place_of(notice, watch);

    return place < notice->count && notice->folders[place].watch == watch ? &notice->folders[place]
                                                                          : NULL;
}

/* One that could not be remembered before has a lower number than later ones. */
static bool remember(struct notice *notice, int watch, const char *path)
{
    size_t place = place_of(notice, watch);
    struct notice_folder *folders = realloc(notice->folders, (notice->count + 1) * sizeof *folders);
    char *copy = folders ? strdup(path) : NULL;

    if (folders)
        notice->folders = folders;
    if (!copy)
        return false;
    memmove(&folders[place + 1], &folders[place], (notice->count - place) * sizeof *folders);
    folders[place] = (struct notice_folder){ watch, copy };
    notice->count++;
    return true;
}

static void forget(struct notice *notice, int watch)
{
    struct notice_folder *folder = find(notice, watch);
    size_t rest;

    if (!folder)
        return;
    free(folder->path);
    rest = (size_t)(notice->folders + notice->count - folder) - 1;
    memmove(folder, folder + 1, rest * sizeof *folder);
    notice->count--;
}

static void watch(struct notice *notice, const char *path, uint32_t mask)
{
    int number = -1;

    if (notice->descriptor >= 0 && !notice->is_blind)
        number = inotify_add_watch(notice->descriptor, path, mask | IN_MASK_ADD);
    if (number >= 0 && find(notice, number))
        return;
    notice->has_new = true;
    if (number < 0 || !is_local(path) || !remember(notice, number, path))
        notice->is_blind = true;
}

void notice_folder(struct notice *notice, const char *path)
{
    if (path)
        watch(notice, path, NAMES | SELF | IN_MODIFY | IN_ONLYDIR);
    else
        notice->is_blind = true;
}

/* --- globs ------------------------------------------------------------------------------------ */

/* What may come and go in a folder of a glob, by the next part of the glob. */
static uint32_t mask_for(const char *next)
{
    size_t size = strcspn(next, "/");

    if (next[size] == '\0')
        return NAMES | SELF | IN_MODIFY | IN_ONLYDIR; /* the files */
    return strcspn(next, "*?[\\") < size ? NAMES | SELF | IN_ONLYDIR : 0;
}

/* Watches the folders that match the first `size` bytes of a glob. When there is none, one may come
 * unseen. */
static void watch_level(struct notice *notice, const char *all, size_t size, const char *next)
{
    char *level = size > 0 ? strndup(all, size) : strdup(".");
    glob_t found = { .gl_pathc = 0 };
    struct paths_trouble trouble;

    if (!level || paths_glob(level, &found, &trouble) != 0 || trouble.error != 0)
        notice->is_blind = true;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        watch(notice, found.gl_pathv[i], SELF | IN_DONT_FOLLOW); /* a link may lead elsewhere */
        if (mask_for(next) != 0)
            watch(notice, found.gl_pathv[i], mask_for(next));
    }
    globfree(&found);
    free(level);
}

void notice_glob(struct notice *notice, const char *glob)
{
    const char *slash = strchr(glob, '/');

    if (!slash)
        watch_level(notice, glob, 0, glob);
    for (; slash; slash = strchr(slash + 1, '/'))
        watch_level(notice, slash == glob ? "/" : glob, slash == glob ? 1 : (size_t)(slash - glob),
                    slash + 1);
}

/* --- events ----------------------------------------------------------------------------------- */

/* True when everything must be looked at. */
static bool take(struct notice *notice, const struct inotify_event *event,
                 void (*written)(void *context, const char *path), void *context)
{
    const struct notice_folder *folder = find(notice, event->wd);
    char *path;

    if (event->mask & IN_IGNORED)
        forget(notice, event->wd);
    if (!(event->mask & IN_MODIFY) || !folder || event->len == 0)
        return true;
    if (asprintf(&path, "%s/%s", folder->path, event->name) < 0)
        return true;
    written(context, path);
    free(path);
    return false;
}

bool notice_read(struct notice *notice, void (*written)(void *context, const char *path),
                 void *context)
{
    _Alignas(struct inotify_event) char events[EVENTS_SIZE];
    bool all = notice->is_blind || notice->has_new;

    for (uint32_t reads = 0; notice->descriptor >= 0; reads++) {
        ssize_t got = read(notice->descriptor, events, sizeof events);

        if (got <= 0)
            return all || (got < 0 && errno != EAGAIN && errno != EINTR);
        if (reads == READS_MAX)
            return true;
        for (const char *at = events; at < events + got;) {
            const struct inotify_event *event = (const struct inotify_event *)at;

            all |= take(notice, event, written, context);
            at += sizeof *event + event->len;
        }
    }
    return true;
}
