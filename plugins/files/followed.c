/* SPDX-License-Identifier: MIT */
#include "followed.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "paths.h"

struct followed *followed_create(const char *path, int descriptor)
{
    struct followed *file = calloc(1, sizeof *file);
    char *copy = strdup(path);
    struct stat about;

    int error = file && copy ? 0 : ENOMEM;

    if (error == 0 && fstat(descriptor, &about) < 0)
        error = errno;
    else if (error == 0 && !S_ISREG(about.st_mode))
        error = EINVAL;
    if (error != 0) {
        free(file);
        free(copy);
        (void)close(descriptor);
        errno = error;
        return NULL;
    }
    file->path = copy;
    file->descriptor = descriptor;
    file->device = about.st_dev;
    file->inode = about.st_ino;
    file->size = (uint64_t)about.st_size;
    return file;
}

struct followed *followed_open(const char *path, const char *name)
{
    int descriptor = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

    struct followed *file = descriptor < 0 ? NULL : followed_create(name, descriptor);

    if (!file)
        return NULL;
    file->folder = paths_folder(path);
    if (!file->folder && weir_is_short(errno)) {
        int error = errno;

        followed_destroy(file);
        errno = error;
        return NULL;
    }
    return file;
}

static void forget_lines(struct followed *file)
{
    while (file->first)
        followed_remove(file->first);
}

void followed_destroy(struct followed *file)
{
    if (!file)
        return;
    forget_lines(file);
    followed_destroy(file->for_copy);
    if (file->descriptor >= 0)
        (void)close(file->descriptor);
    free(file->path);
    free(file->former);
    free(file->folder);
    free(file);
}

void followed_skip(struct followed *file)
{
    file->offset = file->tried = file->size;
}

bool followed_note(struct followed *file)
{
    uint64_t end = file->offset;

    if (end == 0)
        end = file->size < WEIR_FINGERPRINT_MAX ? file->size : WEIR_FINGERPRINT_MAX;
    return end > file->print.end && weir_fingerprint_move(file->descriptor, end, &file->print);
}

/* 1; 0: it has others; -1: the host lacks what it needs to know. Bytes that cannot be read have not
 * changed. */
static int has_its_bytes(const struct followed *file)
{
    int same = weir_fingerprint_compare(file->descriptor, &file->print);

    return same < 0 && !weir_is_short(errno) ? 1 : same;
}

static bool has_changed(const struct followed *file, const struct stat *about)
{
    return (uint64_t)about->st_size != file->size ||
           about->st_mtim.tv_sec != file->changed.tv_sec ||
           about->st_mtim.tv_nsec != file->changed.tv_nsec;
}

bool followed_is_as_before(const struct followed *file)
{
    struct stat about;

    if (fstat(file->descriptor, &about) < 0 || !has_changed(file, &about))
        return true;
    return (uint64_t)about.st_size >= file->offset && has_its_bytes(file) > 0;
}

/* Moves all lines, before those that the other file has: it has none. */
static void move_lines(struct followed *from, struct followed *to)
{
    to->first = from->first;
    to->last = from->last;
    from->first = from->last = NULL;
    for (struct sent_line *line = to->first; line; line = line->after)
        line->file = to;
}

/* The lines of a file that was truncated: its copy may have them. False: memory is out. */
static bool keep_lines_for_copy(struct followed *file)
{
    struct followed *for_copy = file->first ? calloc(1, sizeof *for_copy) : NULL;

    if (file->first && !for_copy)
        return false;
    followed_destroy(file->for_copy);
    file->for_copy = for_copy;
    if (!for_copy)
        return true;
    for_copy->descriptor = -1;
    move_lines(file, for_copy);
    return true;
}

void followed_take_lines(struct followed *copy, struct followed *file)
{
    if (!file->for_copy)
        return;
    move_lines(file->for_copy, copy);
    followed_destroy(file->for_copy);
    file->for_copy = NULL;
}

bool followed_look(struct followed *file)
{
    const struct timespec changed = file->changed;
    const uint64_t size = file->size;
    struct stat about;
    int same = 0;

    if (fstat(file->descriptor, &about) < 0 || !has_changed(file, &about))
        return false;
    file->size = (uint64_t)about.st_size;
    file->changed = about.st_mtim;
    if (file->size >= file->offset)
        same = followed_note(file) ? 1 : has_its_bytes(file);
    if (same > 0)
        return false;
    if (same < 0 || !keep_lines_for_copy(file)) { /* it has not been looked at */
        file->size = size;
        file->changed = changed;
        return false;
    }
    file->before = (struct bookmark_entry){ .offset = file->offset,
                                            .number = file->number,
                                            .print = file->print };
    file->offset = file->number = file->tried = file->scanned = 0;
    file->print = (struct weir_fingerprint){ .size = 0 };
    file->is_saved = false;
    return true;
}

bool followed_has_more(const struct followed *file)
{
    return file->size > file->tried;
}

uint64_t followed_window(const struct followed *file)
{
    return file->first ? file->number - (file->first->number - 1) : 0;
}

/* A fingerprint up to `offset`, if there is nothing against it. */
static bool print_at(struct followed *file, uint64_t offset, struct weir_fingerprint *out)
{
    *out = file->print;
    return offset == 0 || offset == file->print.end ||
           weir_fingerprint_move(file->descriptor, offset, out);
}

const struct bookmark_entry *followed_entry(struct followed *file)
{
    const struct sent_line *first = file->first;
    struct bookmark_entry entry = {
        .device = (uint64_t)file->device,
        .inode = (uint64_t)file->inode,
        .offset = first ? first->offset : file->offset,
        .number = first ? first->number - 1 : file->number,
    };
    struct stat about;

    if (!file->is_saved)
        file->saved = (struct bookmark_entry){ .device = entry.device,
                                               .inode = entry.inode,
                                               .print = file->print };
    if ((!file->is_saved || entry.offset != file->saved.offset) &&
        print_at(file, entry.offset, &entry.print)) {
        file->saved = entry;
        file->is_saved = true;
    }
    file->saved.size = file->size;
    if (file->descriptor >= 0 && fstat(file->descriptor, &about) == 0)
        file->saved.size = (uint64_t)about.st_size; /* more than at the last check */
    file->saved.path = file->path;
    file->saved.folder = file->folder;
    return &file->saved;
}

bool followed_park(struct followed *file)
{
    if (file->descriptor < 0 || file->is_gone || file->first || file->offset < file->size ||
        followed_entry(file)->offset != file->offset)
        return false;
    (void)close(file->descriptor);
    file->descriptor = -1;
    file->tried = file->size;
    return true;
}

bool followed_rests(const struct followed *file)
{
    struct stat about;

    return file->descriptor < 0 && !file->is_gone && stat(file->path, &about) == 0 &&
           about.st_ino == file->inode && about.st_dev == file->device &&
           !has_changed(file, &about);
}

void followed_add(struct followed *file, struct sent_line *line)
{
    line->file = file;
    line->before = file->last;
    line->after = NULL;
    if (file->last)
        file->last->after = line;
    else
        file->first = line;
    file->last = line;
}

void followed_remove(struct sent_line *line)
{
    struct followed *file = line->file;

    if (!file)
        return;
    if (line->before)
        line->before->after = line->after;
    else
        file->first = line->after;
    if (line->after)
        line->after->before = line->before;
    else
        file->last = line->before;
    line->file = NULL;
    line->before = line->after = NULL;
}
