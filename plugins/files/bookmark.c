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

#define FIRST_LINE "weir files 2\n"
#define FIRST_LINE_1 "weir files 1\n" /* as long; until 2026 */
#define PRINT_1_MAX 256u              /* bytes that format 1 hashes */
/* More than nine numbers take. sscanf goes to the end of its text, which may be megabytes. */
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
    const struct fingerprint *print = &entry->print;
    const char *folder = entry->folder ? entry->folder : "";
    char *line;
    int size, status;

    size = asprintf(&line,
                    "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu32
                    " %" PRIx64 " %zu %zu %s %s\n",
                    entry->device, entry->inode, entry->offset, entry->number, print->end,
                    print->size, print->hash, strlen(entry->path), strlen(folder), entry->path,
                    folder);
    if (size < 0)
        return WEIR_ENOMEM;
    status = append(bookmark, line, (size_t)size);
    free(line);
    return status;
}

/* The numbers of a line, and the blank behind them; returns their size in bytes, 0 = there are
 * none. */
static size_t scan_numbers(const char *text, struct bookmark_entry *out_entry, size_t *out_path,
                           size_t *out_folder)
{
    struct fingerprint *print = &out_entry->print;
    int used = 0;

    if (sscanf(text,
               "%" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu32 " %" SCNx64
               " %zu %zu%n",
               &out_entry->device, &out_entry->inode, &out_entry->offset, &out_entry->number,
               &print->end, &print->size, &print->hash, out_path, out_folder, &used) != 9)
        return 0;
    return used > 0 && text[used] == ' ' ? (size_t)used + 1 : 0;
}

/* Likewise, of format 1: it hashes the first bytes of the file, and has no folder. */
static size_t scan_numbers_1(const char *text, struct bookmark_entry *out_entry, size_t *out_path)
{
    struct fingerprint *print = &out_entry->print;
    int used = 0;

    if (sscanf(text, "%" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu32 " %" SCNx64 " %zu%n",
               &out_entry->inode, &out_entry->offset, &out_entry->number, &print->size,
               &print->hash, out_path, &used) != 6)
        return 0;
    print->end = print->size;
    return print->size <= PRINT_1_MAX && used > 0 && text[used] == ' ' ? (size_t)used + 1 : 0;
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

static int read_entry(const struct bookmark *bookmark, size_t *place, bool is_first_format,
                      struct bookmark_entry *out_entry)
{
    const char *text = bookmark->text + *place;
    const size_t all = bookmark->size - *place;
    struct bookmark_entry entry = { .path = NULL };
    size_t path = 0, folder = 0, end, numbers;
    char head[NUMBERS_MAX + 1] = "";

    memcpy(head, text, all < NUMBERS_MAX ? all : NUMBERS_MAX);
    numbers = is_first_format ? scan_numbers_1(head, &entry, &path)
                              : scan_numbers(head, &entry, &path, &folder);

    if (numbers == 0 || path == 0 || path > all || folder > all ||
        entry.print.size > FINGERPRINT_MAX || entry.print.size > entry.print.end)
        return WEIR_EINVALID;
    end = numbers + path + (is_first_format ? 0 : 1 + folder); /* of the line end */
    if (end >= all || text[end] != '\n' || (!is_first_format && text[numbers + path] != ' '))
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

int bookmark_next(const struct bookmark *bookmark, size_t *place, struct bookmark_entry *out_entry)
{
    bool is_first_format;

    if (bookmark->size == 0)
        return 0;
    is_first_format = begins_with(bookmark, FIRST_LINE_1);
    if (!is_first_format && !begins_with(bookmark, FIRST_LINE))
        return WEIR_EINVALID;
    if (*place == 0)
        *place = strlen(FIRST_LINE);
    if (*place == bookmark->size)
        return 0;
    return read_entry(bookmark, place, is_first_format, out_entry);
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
