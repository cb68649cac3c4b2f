#include "bookmark.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weir/status.h>

#define FIRST_LINE "weir files 1\n"
#define FILE_MAX ((size_t)64 * 1024 * 1024)

void bookmark_finish(struct bookmark *bookmark)
{
    free(bookmark->text);
    *bookmark = (struct bookmark){ .text = NULL };
}

static int append(struct bookmark *bookmark, const char *bytes, size_t size)
{
    char *text = realloc(bookmark->text, bookmark->size + size + 1);

    if (!text)
        return WEIR_ENOMEM;
    memcpy(text + bookmark->size, bytes, size);
    bookmark->text = text;
    bookmark->size += size;
    bookmark->text[bookmark->size] = '\0';
    return 0;
}

int bookmark_set(struct bookmark *bookmark, const void *bytes, size_t size)
{
    bookmark_finish(bookmark);
    return append(bookmark, bytes, size);
}

int bookmark_begin(struct bookmark *bookmark)
{
    return bookmark_set(bookmark, FIRST_LINE, strlen(FIRST_LINE));
}

int bookmark_add(struct bookmark *bookmark, const struct bookmark_entry *entry)
{
    char *line;
    int size, status;

    size = asprintf(&line, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu32 " %" PRIx64 " %zu %s\n",
                    entry->inode, entry->offset, entry->number, entry->head_size, entry->head,
                    strlen(entry->path), entry->path);
    if (size < 0)
        return WEIR_ENOMEM;
    status = append(bookmark, line, (size_t)size);
    free(line);
    return status;
}

int bookmark_next(const struct bookmark *bookmark, size_t *place, struct bookmark_entry *out_entry,
                  char **out_path)
{
    struct bookmark_entry entry = { .path = NULL };
    size_t path_size, rest;
    int used = 0;

    if (bookmark->size == 0)
        return 0;
    if (*place == 0) {
        if (strncmp(bookmark->text, FIRST_LINE, strlen(FIRST_LINE)) != 0)
            return -1;
        *place = strlen(FIRST_LINE);
    }
    if (*place == bookmark->size)
        return 0;
    if (sscanf(bookmark->text + *place,
               "%" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu32 " %" SCNx64 " %zu%n", &entry.inode,
               &entry.offset, &entry.number, &entry.head_size, &entry.head, &path_size,
               &used) != 6 ||
        used == 0 || bookmark->text[*place + (size_t)used] != ' ')
        return -1;
    used++; /* one blank: others belong to the path */
    rest = bookmark->size - *place - (size_t)used;
    if (path_size == 0 || path_size >= rest || entry.head_size > BOOKMARK_HEAD_MAX ||
        bookmark->text[*place + (size_t)used + path_size] != '\n')
        return -1;
    *out_path = strndup(bookmark->text + *place + used, path_size);
    if (!*out_path)
        return -1;
    entry.path = *out_path;
    *out_entry = entry;
    *place += (size_t)used + path_size + 1;
    return 1;
}

/* --- the file --------------------------------------------------------------------------------- */

int bookmark_load(struct bookmark *bookmark, const char *path)
{
    FILE *stream = fopen(path, "rbe");
    struct stat about;
    int error = 0;

    bookmark_finish(bookmark);
    if (!stream)
        return errno == ENOENT ? 0 : errno;
    if (fstat(fileno(stream), &about) < 0)
        error = errno;
    else if ((size_t)about.st_size > FILE_MAX)
        error = EFBIG;
    if (error == 0 && about.st_size > 0) {
        bookmark->text = calloc((size_t)about.st_size + 1, 1);
        if (bookmark->text)
            bookmark->size = fread(bookmark->text, 1, (size_t)about.st_size, stream);
        error = bookmark->text ? ferror(stream) : ENOMEM;
    }
    (void)fclose(stream);
    return error;
}

static int write_all(int descriptor, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t written = write(descriptor, bytes, size);

        if (written < 0 && errno != EINTR)
            return errno;
        if (written > 0) {
            bytes += written;
            size -= (size_t)written;
        }
    }
    return fsync(descriptor) < 0 ? errno : 0;
}

static int write_file(const struct bookmark *bookmark, const char *path)
{
    int descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    int error;

    if (descriptor < 0)
        return errno;
    error = write_all(descriptor, bookmark->text, bookmark->size);
    if (close(descriptor) < 0 && error == 0)
        error = errno;
    return error;
}

/* The new name is on the disk when its folder is. */
static int sync_folder(const char *path)
{
    char *copy = strdup(path);
    int descriptor, error = 0;

    if (!copy)
        return ENOMEM;
    descriptor = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(copy);
    if (descriptor < 0)
        return errno;
    if (fsync(descriptor) < 0)
        error = errno;
    (void)close(descriptor);
    return error;
}

int bookmark_save(const struct bookmark *bookmark, const char *path)
{
    char *beside;
    int error;

    if (asprintf(&beside, "%s.new", path) < 0)
        return ENOMEM;
    error = write_file(bookmark, beside);
    if (error == 0 && rename(beside, path) < 0)
        error = errno;
    if (error == 0)
        error = sync_folder(path);
    free(beside);
    return error;
}
