#include "followed.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weir/message.h>

struct followed *followed_create(const char *path, int descriptor)
{
    struct followed *file = calloc(1, sizeof *file);
    char *copy = strdup(path);
    struct stat about;

    if (!file || !copy || fstat(descriptor, &about) < 0 || !S_ISREG(about.st_mode)) {
        free(file);
        free(copy);
        (void)close(descriptor);
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

    return descriptor < 0 ? NULL : followed_create(name, descriptor);
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
    (void)close(file->descriptor);
    free(file->path);
    free(file->former);
    free(file);
}

bool followed_has_head(const struct followed *file, uint64_t head, uint32_t head_size)
{
    char bytes[BOOKMARK_HEAD_MAX];
    ssize_t got;

    if (head_size == 0)
        return true;
    if (head_size > sizeof bytes)
        return false;
    got = pread(file->descriptor, bytes, head_size, 0);
    return got == (ssize_t)head_size && weir_key(bytes, head_size) == head;
}

void followed_note_head(struct followed *file)
{
    char bytes[BOOKMARK_HEAD_MAX];
    ssize_t got;

    if (file->head_size == sizeof bytes)
        return;
    got = pread(file->descriptor, bytes, sizeof bytes, 0);
    if (got <= (ssize_t)file->head_size)
        return;
    if (file->head_size > 0 && weir_key(bytes, file->head_size) != file->head)
        return; /* truncated: the next check sees it by the old hash */
    file->head = weir_key(bytes, (size_t)got);
    file->head_size = (uint32_t)got;
}

void followed_skip(struct followed *file)
{
    file->offset = file->tried = file->size;
}

bool followed_look(struct followed *file)
{
    struct stat about;
    uint64_t size;

    if (fstat(file->descriptor, &about) < 0)
        return false;
    size = (uint64_t)about.st_size;
    if (size == file->size && about.st_mtim.tv_sec == file->changed.tv_sec &&
        about.st_mtim.tv_nsec == file->changed.tv_nsec)
        return false;
    file->size = size;
    file->changed = about.st_mtim;
    if (size >= file->offset && followed_has_head(file, file->head, file->head_size))
        return false;
    forget_lines(file);
    file->offset = file->number = file->tried = 0;
    file->head_size = 0;
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

struct bookmark_entry followed_entry(const struct followed *file)
{
    const struct sent_line *first = file->first;

    return (struct bookmark_entry){
        .path = file->path,
        .inode = (uint64_t)file->inode,
        .offset = first ? first->offset : file->offset,
        .number = first ? first->number - 1 : file->number,
        .head = file->head,
        .head_size = file->head_size,
    };
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
