/* SPDX-License-Identifier: MIT */
#include "checksum_line.h"

#include <stdbool.h>
#include <string.h>

struct cursor {
    const char *at;
    const char *end;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static void skip_blanks(struct cursor *cursor)
{
    while (cursor->at < cursor->end && is_blank(*cursor->at))
        cursor->at++;
}

static bool take_char(struct cursor *cursor, char wanted)
{
    if (cursor->at == cursor->end || *cursor->at != wanted)
        return false;
    cursor->at++;
    return true;
}

/* 0..15; 16 for other characters. */
static unsigned hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0');
    if (c >= 'a' && c <= 'f')
        return (unsigned)(c - 'a') + 10;
    if (c >= 'A' && c <= 'F')
        return (unsigned)(c - 'A') + 10;
    return 16;
}

static bool take_sum(struct cursor *cursor, unsigned char *sum)
{
    if ((size_t)(cursor->end - cursor->at) < 2 * CHECKSUM_SIZE)
        return false;
    for (size_t i = 0; i < CHECKSUM_SIZE; i++) {
        unsigned high = hex_value(cursor->at[2 * i]);
        unsigned low = hex_value(cursor->at[2 * i + 1]);

        if (high > 15 || low > 15)
            return false;
        sum[i] = (unsigned char)(high << 4 | low);
    }
    cursor->at += 2 * CHECKSUM_SIZE;
    return true;
}

/* Between sum and name: one blank, and the mark for text or binary, which are read alike here. */
static bool take_separator(struct cursor *cursor)
{
    if (!take_char(cursor, ' ') && !take_char(cursor, '\t'))
        return false;
    return take_char(cursor, ' ') || take_char(cursor, '*');
}

/* The character of an escape sequence; NUL when there is no such escape. */
static char unescape(char c)
{
    switch (c) {
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case '\\':
        return '\\';
    default:
        return '\0';
    }
}

/* The next character of the name; NUL when the name is wrong here. */
static char take_name_char(struct cursor *cursor, bool escaped)
{
    char c = *cursor->at++;

    if (!escaped || c != '\\')
        return c;
    return cursor->at < cursor->end ? unescape(*cursor->at++) : '\0';
}

static const char *take_name(struct cursor *cursor, bool escaped, struct checksum_line *line)
{
    size_t size = 0;

    while (take_char(cursor, '/'))
        ;
    while (cursor->at < cursor->end) {
        char c = take_name_char(cursor, escaped);

        if (c == '\0')
            return escaped ? "wrong escape in the file name" : "NUL in the file name";
        if (size + 1 == sizeof line->path)
            return "file name too long";
        line->path[size++] = c;
    }
    line->path[size] = '\0';
    line->path_size = size;
    return size > 0 ? NULL : "no file name";
}

const char *checksum_line_parse(const char *text, size_t size, struct checksum_line *out_line)
{
    struct cursor cursor = { text, text + size };
    bool escaped;

    skip_blanks(&cursor);
    escaped = take_char(&cursor, '\\');
    if (!take_sum(&cursor, out_line->sum))
        return "no MD5 sum at the start of the line";
    if (!take_separator(&cursor))
        return "no two spaces behind the MD5 sum";
    return take_name(&cursor, escaped, out_line);
}
