/* SPDX-License-Identifier: MIT */
#include "host/dead/dead_marks.h"

#include <dirent.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/dead/dead_record.h"

int dead_marks_add(struct dead_marks *marks, uint64_t number)
{
    struct dead_mark *list = realloc(marks->list, (marks->count + 1) * sizeof *list);

    if (!list)
        return WEIR_ENOMEM;
    marks->list = list;
    list[marks->count++] = (struct dead_mark){ .number = number };
    marks->left++;
    return 0;
}

void dead_marks_finish(struct dead_marks *marks)
{
    free(marks->list);
    *marks = (struct dead_marks){ .count = 0 };
}

/* --- one file --------------------------------------------------------------------------------- */

static int compare(const void *left, const void *right)
{
    const uint64_t a = ((const struct dead_mark *)left)->number;
    const uint64_t b = ((const struct dead_mark *)right)->number;

    return (a > b) - (a < b);
}

/* NULL: not among them, or done. */
static struct dead_mark *find(const struct dead_marks *marks, uint64_t number)
{
    const struct dead_mark wanted = { .number = number };
    struct dead_mark *found = bsearch(&wanted, marks->list, marks->count, sizeof wanted, compare);

    return found && !found->is_done ? found : NULL;
}

static void mark_entry(struct dead_marks *marks, const struct dead_entry *entry, int descriptor)
{
    struct dead_mark *mark = find(marks, entry->id.number);

    if (!mark || pwrite(descriptor, "r", 1, (off_t)(entry->offset + DEAD_RECORD_STATE)) != 1)
        return;
    mark->is_done = true;
    marks->left--;
}

static void mark_entries(struct dead_marks *marks, uint64_t run, struct dead_reader *reader,
                         int descriptor)
{
    struct dead_entry entry;

    while (marks->left > 0 && dead_reader_next(reader, &entry) > 0)
        if (entry.id.run == run)
            mark_entry(marks, &entry, descriptor);
}

static void mark_in_file(struct dead_marks *marks, uint64_t run, const char *path)
{
    struct dead_reader reader;
    int descriptor;

    if (dead_reader_open(&reader, path) == 0) {
        descriptor = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
        if (descriptor >= 0) {
            mark_entries(marks, run, &reader, descriptor);
            (void)fdatasync(descriptor);
            (void)close(descriptor);
        }
    }
    dead_reader_finish(&reader);
}

/* --- the files beside it ---------------------------------------------------------------------- */

static void mark_beside(struct dead_marks *marks, uint64_t run, const char *folder,
                        const char *name)
{
    DIR *stream = opendir(folder);
    const struct dirent *entry;
    char *path;

    while (stream && marks->left > 0 && (entry = readdir(stream))) {
        if (strncmp(entry->d_name, name, strlen(name)) != 0 || !entry->d_name[strlen(name)])
            continue;
        if (asprintf(&path, "%s/%s", folder, entry->d_name) < 0)
            break;
        mark_in_file(marks, run, path);
        free(path);
    }
    if (stream)
        (void)closedir(stream);
}

void dead_marks_apply(struct dead_marks *marks, uint64_t run, const char *path)
{
    char *folder = strdup(path), *name = strdup(path);

    qsort(marks->list, marks->count, sizeof *marks->list, compare);
    mark_in_file(marks, run, path);
    if (folder && name)
        mark_beside(marks, run, dirname(folder), basename(name));
    free(folder);
    free(name);
}
