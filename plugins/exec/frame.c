/* SPDX-License-Identifier: MIT */
#include "frame.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Bytes of a number of 64 bits. */
#define DIGITS_MAX 20u
#define DECIMAL 10u

struct row {
    const char *word;
    bool has_bytes;  /* SIZE may be other than 0 */
    bool may_number; /* a second number may follow */
    bool must_number;
};

/* In the order of enum frame_kind. */
static const struct row rows[] = {
    { .word = "ready" },
    { .word = "out", .has_bytes = true, .may_number = true },
    { .word = "reply", .has_bytes = true },
    { .word = "done" },
    { .word = "stop" },
    { .word = "retry", .has_bytes = true, .may_number = true, .must_number = true },
    { .word = "reject", .has_bytes = true },
    { .word = "fail", .has_bytes = true },
};

#define ROWS (sizeof rows / sizeof *rows)

/* Takes a word and the blank behind it off the line. */
static size_t take_word(const char **line, size_t *size, const char **out_word)
{
    const char *blank = memchr(*line, ' ', *size);
    size_t length = blank ? (size_t)(blank - *line) : *size;

    *out_word = *line;
    *line += blank ? length + 1 : length;
    *size -= blank ? length + 1 : length;
    return length;
}

bool frame_number(const char *text, size_t size, uint64_t *out_number)
{
    uint64_t number = 0;

    if (size == 0 || size > DIGITS_MAX)
        return false;
    for (size_t i = 0; i < size; i++) {
        if (text[i] < '0' || text[i] > '9' || __builtin_mul_overflow(number, DECIMAL, &number) ||
            __builtin_add_overflow(number, (uint64_t)(text[i] - '0'), &number))
            return false;
    }
    *out_number = number;
    return true;
}

static bool take_number(const char **line, size_t *size, uint64_t *out_number)
{
    const char *word;
    size_t length = take_word(line, size, &word);

    return frame_number(word, length, out_number);
}

static const struct row *find_row(const char *word, size_t length)
{
    for (size_t i = 0; i < ROWS; i++) {
        if (strlen(rows[i].word) == length && memcmp(rows[i].word, word, length) == 0)
            return &rows[i];
    }
    return NULL;
}

bool frame_make(const char *word, size_t length, uint64_t size, const uint64_t *number,
                struct frame *out_frame)
{
    const struct row *row = find_row(word, length);

    if (!row || (size > 0 && !row->has_bytes) || (number ? !row->may_number : row->must_number))
        return false;
    *out_frame = (struct frame){ .kind = (enum frame_kind)(row - rows),
                                 .size = size,
                                 .number = number ? *number : 0 };
    return true;
}

bool frame_read(const char *line, size_t size, struct frame *out_frame)
{
    bool ends_with_word = size > 0 && line[size - 1] != ' ';
    uint64_t bytes, number, *given = NULL;
    const char *word;
    size_t length = take_word(&line, &size, &word);

    if (!ends_with_word || !take_number(&line, &size, &bytes))
        return false;
    if (size > 0) {
        given = &number;
        if (!take_number(&line, &size, &number) || size > 0)
            return false;
    }
    return frame_make(word, length, bytes, given, out_frame);
}

size_t frame_write(char *to, size_t room, const struct weir_message *message, size_t size)
{
    const char *tag = message->tag ? message->tag->name : "";
    int written;

    if (strchr(tag, '\n'))
        return 0;
    written = snprintf(to, room, "%s %zu %u %" PRIu64 " %s\n",
                       message->kind == WEIR_REQUEST ? "request" : "message", size,
                       message->attempt, message->key, tag);
    return written > 0 && (size_t)written < room ? (size_t)written : 0;
}
