/* SPDX-License-Identifier: MIT */
#include "lines.h"

#include <stdlib.h>
#include <string.h>

#include <weir/status.h>

int lines_init(struct lines *lines, size_t max, size_t chunk, char end)
{
    *lines = (struct lines){ .size = max + chunk, .max = max, .end = end };
    lines->buffer = malloc(lines->size);
    return lines->buffer ? 0 : WEIR_ENOMEM;
}

void lines_finish(struct lines *lines)
{
    free(lines->buffer);
    lines->buffer = NULL;
}

/* Moves past the line and its end. */
static enum lines_step hand_out(struct lines *lines, size_t size, bool with_end,
                                const char **out_line, size_t *out_size)
{
    const char *line = lines->buffer + lines->begin;
    bool too_long = lines->skipping || size > lines->max;

    lines->begin += size + (with_end ? 1 : 0);
    lines->scanned = lines->begin;
    lines->skipping = false;
    if (too_long)
        return LINES_TOO_LONG;
    if (lines->end == '\n' && with_end && size > 0 && line[size - 1] == '\r')
        size--;
    *out_line = line;
    *out_size = size;
    return LINES_LINE;
}

enum lines_step lines_next(struct lines *lines, const char **out_line, size_t *out_size)
{
    size_t rest = lines->filled - lines->begin;
    const char *end = memchr(lines->buffer + lines->scanned, lines->end,
                             lines->filled - lines->scanned);

    if (end) {
        size_t size = (size_t)(end - lines->buffer) - lines->begin;

        return hand_out(lines, size, true, out_line, out_size);
    }
    lines->scanned = lines->filled;
    if (lines->at_end)
        return rest > 0 || lines->skipping ? hand_out(lines, rest, false, out_line, out_size)
                                           : LINES_END;
    if (lines->skipping || rest > lines->max) {
        lines->skipping = true;
        lines->begin = lines->filled;
    }
    return LINES_READ;
}

char *lines_room(struct lines *lines, size_t *out_size)
{
    size_t rest = lines->filled - lines->begin;

    if (rest > 0 && lines->begin > 0)
        memmove(lines->buffer, lines->buffer + lines->begin, rest);
    lines->scanned -= lines->begin;
    lines->begin = 0;
    lines->filled = rest;
    *out_size = lines->size - rest;
    return lines->buffer + rest;
}

void lines_read(struct lines *lines, size_t size)
{
    lines->filled += size;
    lines->at_end = size == 0;
}

const char *lines_rest(const struct lines *lines, size_t *out_size)
{
    *out_size = lines->filled - lines->begin;
    return lines->buffer + lines->begin;
}

bool lines_put_back(struct lines *lines, const char *rest, size_t size)
{
    if (size > lines->size)
        return false;
    if (size > 0)
        memcpy(lines->buffer, rest, size);
    lines->filled = size;
    return true;
}
