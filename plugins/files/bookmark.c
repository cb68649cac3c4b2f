/* SPDX-License-Identifier: MIT */
#include "bookmark.h"

#include <ctype.h>
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

#define FIRST_LINE "weir files 3\n"
#define FIRST_LINE_2 "weir files 2\n" /* as long; without the size */
#define FIRST_LINE_1 "weir files 1\n" /* as long; without the device and the folder, too */
#define PRINT_1_MAX 256u              /* bytes that format 1 hashes */
/* More than ten numbers take. */
#define NUMBERS_MAX ((size_t)256)
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
    const struct weir_fingerprint *print = &entry->print;
    const char *folder = entry->folder ? entry->folder : "";
    char *line;
    int size, status;

    size = asprintf(&line,
                    "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
                    " %" PRIu32 " %" PRIx64 " %zu %zu %s %s\n",
                    entry->device, entry->inode, entry->offset, entry->number, entry->size,
                    print->end, print->size, print->hash, strlen(entry->path), strlen(folder),
                    entry->path, folder);
    if (size < 0)
        return WEIR_ENOMEM;
    status = append(bookmark, line, (size_t)size);
    free(line);
    return status;
}

/* Takes a number and the blank behind it; a sign, or another blank, is none. */
static bool take_number(const char **at, int base, uint64_t *out)
{
    char *end;

    if (!isxdigit((unsigned char)**at))
        return false;
    errno = 0;
    *out = strtoull(*at, &end, base);
    if (errno != 0 || end == *at || *end != ' ')
        return false;
    *at = end + 1;
    return true;
}

/* The numbers of a line, and the blank behind them; returns their size in bytes, 0 = there are
 * none. Format 1 hashes the first bytes of the file, and has no device and no folder. */
static size_t take_numbers(const char *text, uint32_t format, struct bookmark_entry *out_entry,
                           uint64_t *out_path, uint64_t *out_folder)
{
    struct weir_fingerprint *print = &out_entry->print;
    uint64_t size = 0;
    const char *at = text;

    if ((format > 1 && !take_number(&at, 10, &out_entry->device)) ||
        !take_number(&at, 10, &out_entry->inode) || !take_number(&at, 10, &out_entry->offset) ||
        !take_number(&at, 10, &out_entry->number) ||
        (format > 2 && !take_number(&at, 10, &out_entry->size)) ||
        (format > 1 && !take_number(&at, 10, &print->end)) || !take_number(&at, 10, &size) ||
        !take_number(&at, 16, &print->hash) || !take_number(&at, 10, out_path) ||
        (format > 1 && !take_number(&at, 10, out_folder)))
        return 0;
    if (size > (format == 1 ? PRINT_1_MAX : WEIR_FINGERPRINT_MAX))
        return 0;
    print->size = (uint32_t)size;
    if (format == 1)
        print->end = size;
    if (format < 3)
        out_entry->size = UINT64_MAX;
    return print->size <= print->end ? (size_t)(at - text) : 0;
}

int64_t bookmark_entry_unread(const struct bookmark_entry *entry)
{
    if (entry->size == UINT64_MAX || entry->size < entry->offset)
        return -1;
    return (int64_t)(entry->size - entry->offset);
}

bool bookmark_entry_has_its_device(const struct bookmark_entry *entry)
{
    char *copy = strdup(entry->folder ? entry->folder : entry->path), *folder = copy;
    struct stat about;
    bool is_there;

    if (copy && !entry->folder)
        folder = dirname(copy);
    while (copy && stat(folder, &about) != 0 && strcmp(folder, "/") != 0 &&
           strcmp(folder, ".") != 0)
        folder = dirname(folder);
    is_there = copy && stat(folder, &about) == 0 && (uint64_t)about.st_dev == entry->device;
    free(copy);
    return entry->device == 0 || is_there;
}

void bookmark_entry_finish(struct bookmark_entry *entry)
{
    free(entry->path);
    free(entry->folder);
    entry->path = entry->folder = NULL;
}

/* Copies the names of an entry, which the line has from `text` on. */
static int copy_names(const char *text, size_t path, size_t folder, struct bookmark_entry *entry)
{
    entry->path = strndup(text, path);
    entry->folder = folder > 0 ? strndup(text + path + 1, folder) : NULL;
    if (entry->path && (entry->folder || folder == 0))
        return 0;
    bookmark_entry_finish(entry);
    return WEIR_ENOMEM;
}

static int read_entry(const struct bookmark *bookmark, size_t *place, uint32_t format,
                      struct bookmark_entry *out_entry)
{
    const char *text = bookmark->text + *place;
    const size_t all = bookmark->size - *place;
    struct bookmark_entry entry = { .path = NULL };
    uint64_t path = 0, folder = 0;
    size_t end, numbers;
    char head[NUMBERS_MAX + 1] = "";

    memcpy(head, text, all < NUMBERS_MAX ? all : NUMBERS_MAX);
    numbers = take_numbers(head, format, &entry, &path, &folder);
    if (numbers == 0 || path == 0 || path > all || folder > all)
        return WEIR_EINVALID;
    end = numbers + path + (format == 1 ? 0 : 1 + folder); /* of the line end */
    if (end >= all || text[end] != '\n' || (format > 1 && text[numbers + path] != ' ') ||
        memchr(text + numbers, '\0', end - numbers))
        return WEIR_EINVALID;
    if (copy_names(text + numbers, path, folder, &entry) < 0)
        return WEIR_ENOMEM;
    *out_entry = entry;
    *place += end + 1;
    return 1;
}

static bool begins_with(const struct bookmark *bookmark, const char *line)
{
    return strncmp(bookmark->text, line, strlen(line)) == 0;
}

/* 0: it is none. */
static uint32_t format_of(const struct bookmark *bookmark)
{
    static const char *const lines[] = { FIRST_LINE_1, FIRST_LINE_2, FIRST_LINE };

    for (uint32_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        if (begins_with(bookmark, lines[i]))
            return i + 1;
    return 0;
}

int bookmark_next(const struct bookmark *bookmark, size_t *place, struct bookmark_entry *out_entry)
{
    uint32_t format;

    if (bookmark->size == 0)
        return 0;
    format = format_of(bookmark);
    if (format == 0)
        return WEIR_EINVALID;
    if (*place == 0)
        *place = strlen(FIRST_LINE);
    if (*place == bookmark->size)
        return 0;
    return read_entry(bookmark, place, format, out_entry);
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
    else if (about.st_size == 0)
        error = ENODATA;
    if (error == 0) {
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
