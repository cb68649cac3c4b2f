/* SPDX-License-Identifier: MIT */
#include "position.h"

#include <stdlib.h>
#include <string.h>

#include <weir/status.h>

#define MAGIC 0x313073656e696c66u /* "filnes01": identifies the plugin and the format */

/* Then the path of the present file, "" for none, and those of the finished files, each with its
 * NUL. */
struct head {
    uint64_t magic;
    uint64_t offset;
    uint64_t number;
};

static char *append(char *to, const char *text)
{
    size_t size = strlen(text) + 1;

    memcpy(to, text, size);
    return to + size;
}

void *position_pack(const struct position_here *here, char *const *done, size_t done_count,
                    size_t *out_size)
{
    struct head head = { MAGIC, here->offset, here->number };
    const char *path = here->path ? here->path : "";
    size_t size = sizeof head + strlen(path) + 1;
    char *data, *end;

    for (size_t i = 0; i < done_count; i++)
        size += strlen(done[i]) + 1;
    data = malloc(size);
    if (!data)
        return NULL;
    memcpy(data, &head, sizeof head);
    end = append(data + sizeof head, path);
    for (size_t i = 0; i < done_count; i++)
        end = append(end, done[i]);
    *out_size = size;
    return data;
}

bool position_unpack(const void *data, size_t size, struct position_here *out_here)
{
    const char *text = data;
    struct head head;

    if (size <= sizeof head || text[size - 1] != '\0')
        return false;
    memcpy(&head, data, sizeof head);
    if (head.magic != MAGIC)
        return false;
    text += sizeof head;
    *out_here = (struct position_here){ *text ? text : NULL, head.offset, head.number };
    return true;
}

static int compare(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* Returns owned: the paths of the finished files, sorted. */
static const char **sorted_done(const char *text, const char *end, size_t *out_count)
{
    const char **sorted;
    size_t count = 0;

    for (const char *path = text; path < end; path += strlen(path) + 1)
        count++;
    sorted = calloc(count + 1, sizeof *sorted);
    if (!sorted)
        return NULL;
    count = 0;
    for (const char *path = text; path < end; path += strlen(path) + 1)
        sorted[count++] = path;
    qsort(sorted, count, sizeof *sorted, compare);
    *out_count = count;
    return sorted;
}

int position_mark(const void *data, size_t size, char *const *paths, size_t count, bool *out_done)
{
    const char *text = (const char *)data + sizeof(struct head);
    const char *end = (const char *)data + size;
    size_t done_count = 0;
    const char **sorted = sorted_done(text + strlen(text) + 1, end, &done_count);

    if (!sorted)
        return WEIR_ENOMEM;
    for (size_t i = 0; i < count; i++)
        out_done[i] = bsearch(&paths[i], sorted, done_count, sizeof *sorted, compare) != NULL;
    free(sorted);
    return 0;
}
