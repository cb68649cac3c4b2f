/* SPDX-License-Identifier: MIT */
#include "frame.h"

#include <string.h>

#include <weir/plugin.h>

/* Bytes of a number of 64 bits. */
#define DIGITS_MAX 20u
#define DECIMAL 10u
/* Bytes of "messages ", the longest one. */
#define WORD_MAX 9u
/* Bytes of a line before its tag: four numbers, and blanks. */
#define HEAD_MAX (WORD_MAX + 4 * (DIGITS_MAX + 1))
/* Words behind SIZE. */
#define WORDS_MAX 3u

struct row {
    const char *word;
    bool has_bytes; /* SIZE may be other than 0 */
    uint8_t must;   /* of `fields`, as many as a frame has at least */
    uint8_t may;    /* as many as it has at most */
    uint8_t fields[WORDS_MAX];
};

/* In the order of enum frame_kind. */
static const struct row rows[] = {
    { .word = "ready", .may = 2, .fields = { FRAME_REVISION, FRAME_BATCH_SIZE } },
    { .word = "out", .has_bytes = true, .may = 2, .fields = { FRAME_KEY, FRAME_ID } },
    { .word = "reply", .has_bytes = true, .may = 1, .fields = { FRAME_ID } },
    { .word = "done" },
    { .word = "stop" },
    { .word = "retry", .has_bytes = true, .must = 1, .may = 1, .fields = { FRAME_MS } },
    { .word = "reject", .has_bytes = true },
    { .word = "fail", .has_bytes = true, .may = 1, .fields = { FRAME_ID } },
    { .word = "batch", .must = 1, .may = 1, .fields = { FRAME_COUNT } },
    { .word = "keep", .must = 1, .may = 1, .fields = { FRAME_ID } },
    { .word = "settle",
      .has_bytes = true,
      .must = 2,
      .may = 3,
      .fields = { FRAME_ID, FRAME_VERDICT, FRAME_MS } },
    { .word = "log", .has_bytes = true, .must = 1, .may = 1, .fields = { FRAME_LEVEL } },
    { .word = "label", .has_bytes = true },
    { .word = "inspect", .has_bytes = true },
    { .word = "to", .has_bytes = true },
    { .word = "result", .has_bytes = true },
};

#define ROWS (sizeof rows / sizeof *rows)

/* A word that stands for a number. */
struct choice {
    enum frame_field field;
    const char *word;
    uint64_t value;
};

static const struct choice choices[] = {
    { FRAME_LEVEL, "debug", WEIR_LOG_DEBUG },     { FRAME_LEVEL, "info", WEIR_LOG_INFO },
    { FRAME_LEVEL, "warning", WEIR_LOG_WARNING }, { FRAME_LEVEL, "error", WEIR_LOG_ERROR },
    { FRAME_VERDICT, "done", WEIR_DONE },         { FRAME_VERDICT, "retry", WEIR_RETRY },
    { FRAME_VERDICT, "reject", WEIR_REJECT },
};

#define CHOICES (sizeof choices / sizeof *choices)

/* --- words ------------------------------------------------------------------------------------ */

static bool is(const struct frame_word *word, const char *text)
{
    return strlen(text) == word->size && memcmp(text, word->at, word->size) == 0;
}

static bool read_number(const struct frame_word *word, uint64_t *out_number)
{
    uint64_t number = 0;

    if (word->size == 0 || word->size > DIGITS_MAX)
        return false;
    for (size_t i = 0; i < word->size; i++) {
        char digit = word->at[i];

        if (digit < '0' || digit > '9' || __builtin_mul_overflow(number, DECIMAL, &number) ||
            __builtin_add_overflow(number, (uint64_t)(digit - '0'), &number))
            return false;
    }
    *out_number = number;
    return true;
}

static bool read_field(enum frame_field field, const struct frame_word *word, uint64_t *out_value)
{
    if (field != FRAME_LEVEL && field != FRAME_VERDICT)
        return read_number(word, out_value);
    for (size_t i = 0; i < CHOICES; i++) {
        if (choices[i].field == field && is(word, choices[i].word)) {
            *out_value = choices[i].value;
            return true;
        }
    }
    return false;
}

static const struct row *find_row(const struct frame_word *word)
{
    for (size_t i = 0; i < ROWS; i++) {
        if (is(word, rows[i].word))
            return &rows[i];
    }
    return NULL;
}

/* --- reading ---------------------------------------------------------------------------------- */

/* `retry` needs its time, and only it has one. */
static bool is_settled_right(const struct frame *frame)
{
    return frame->kind != FRAME_SETTLE ||
           (frame->fields[FRAME_VERDICT] == WEIR_RETRY) == frame_has(frame, FRAME_MS);
}

/* Fields that the kind does not have are not looked at. */
static bool read_fields(const struct row *row, const struct frame_word *fields, struct frame *out)
{
    for (uint8_t i = 0; i < row->may; i++) {
        enum frame_field field = (enum frame_field)row->fields[i];

        if (!fields[field].at) {
            if (i < row->must)
                return false;
            continue;
        }
        if (!read_field(field, &fields[field], &out->fields[field]))
            return false;
        out->given |= 1u << field;
    }
    return is_settled_right(out);
}

static bool has_others(const struct row *row, const struct frame_word *fields)
{
    uint32_t allowed = 0;

    for (uint8_t i = 0; i < row->may; i++)
        allowed |= 1u << row->fields[i];
    for (uint32_t field = 0; field < FRAME_FIELDS; field++) {
        if (fields[field].at && !(allowed & (1u << field)))
            return true;
    }
    return false;
}

bool frame_make(const struct frame_word *word, uint64_t size, const struct frame_word *fields,
                struct frame *out_frame)
{
    const struct row *row = find_row(word);
    struct frame frame = { .size = size };

    if (!row || (size > 0 && !row->has_bytes) || has_others(row, fields))
        return false;
    frame.kind = (enum frame_kind)(row - rows);
    if (!read_fields(row, fields, &frame))
        return false;
    *out_frame = frame;
    return true;
}

/* Takes a word and the blank behind it off the line. */
static struct frame_word take_word(const char **line, size_t *size)
{
    const char *blank = memchr(*line, ' ', *size);
    size_t length = blank ? (size_t)(blank - *line) : *size;
    struct frame_word word = { *line, length };

    *line += blank ? length + 1 : length;
    *size -= blank ? length + 1 : length;
    return word;
}

bool frame_read(const char *line, size_t size, struct frame *out_frame)
{
    bool ends_with_word = size > 0 && line[size - 1] != ' ';
    struct frame_word word = take_word(&line, &size), bytes = take_word(&line, &size);
    struct frame_word fields[FRAME_FIELDS] = { { NULL, 0 } };
    const struct row *row = find_row(&word);
    uint64_t number;

    if (!row || !ends_with_word || !read_number(&bytes, &number))
        return false;
    for (uint8_t i = 0; size > 0; i++) {
        if (i == row->may)
            return false;
        fields[row->fields[i]] = take_word(&line, &size);
    }
    return frame_make(&word, number, fields, out_frame);
}

/* --- writing ---------------------------------------------------------------------------------- */

char *frame_write_number(char *to, uint64_t number)
{
    char digits[DIGITS_MAX], *at = digits + DIGITS_MAX;

    do
        *--at = (char)('0' + number % DECIMAL);
    while (number /= DECIMAL);
    memcpy(to, at, (size_t)(digits + DIGITS_MAX - at));
    to += digits + DIGITS_MAX - at;
    *to++ = ' ';
    return to;
}

bool frame_can_write(const struct weir_message *message)
{
    const char *tag = message->tag ? message->tag->name : "";

    return !strchr(tag, '\n') && HEAD_MAX + strlen(tag) + 1 <= FRAME_LINE_MAX;
}

static size_t write_line(char *to, size_t room, const char *word,
                         const struct weir_message *message, uint64_t id, size_t size)
{
    const char *tag = message->tag ? message->tag->name : "";
    size_t tag_size = strlen(tag);
    char *at = to;

    if (memchr(tag, '\n', tag_size) || room < HEAD_MAX + tag_size + 1)
        return 0;
    at = frame_write_number(stpcpy(at, word), size);
    if (id)
        at = frame_write_number(at, id);
    at = frame_write_number(at, message->attempt);
    at = frame_write_number(at, message->key);
    memcpy(at, tag, tag_size);
    at[tag_size] = '\n';
    return (size_t)(at + tag_size + 1 - to);
}

size_t frame_write(char *to, size_t room, const struct weir_message *message, uint64_t id,
                   size_t size)
{
    return write_line(to, room, message->kind == WEIR_REQUEST ? "request " : "message ", message,
                      id, size);
}

size_t frame_write_many(char *to, size_t room, const struct weir_message *first, uint64_t id,
                        size_t size)
{
    return write_line(to, room, "messages ", first, id, size);
}
