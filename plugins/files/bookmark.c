#include "bookmark.h"

#include <errno.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weir/settling.h>
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
    struct stat about;
    FILE *stream;
    int error = weir_settling_open(path, &stream);

    bookmark_finish(bookmark);
    if (!stream)
        return error;
    if (fstat(fileno(stream), &about) < 0)
        error = errno;
    else if ((size_t)about.st_size > FILE_MAX)
        error = EFBIG;
    if (error == 0 && about.st_size > 0) {
        bookmark->text = calloc((size_t)about.st_size + 1, 1);
        if (bookmark->text)
            bookmark->size = fread(bookmark->text, 1, (size_t)about.st_size, stream);
        error = !bookmark->text ? ENOMEM : ferror(stream) ? EIO : 0;
    }
    (void)fclose(stream);
    return error;
}

int bookmark_check(const char *path)
{
    return weir_settling_check(path);
}

int bookmark_save(const struct bookmark *bookmark, const char *path)
{
    return weir_settling_replace(path, bookmark->text, bookmark->size);
}
