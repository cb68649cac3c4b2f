/* SPDX-License-Identifier: MIT */
#include "host/log/line.h"

#include <stdio.h>
#include <string.h>

#define DIGITS_MAX 20 /* of 2^64 - 1 */

void line_init(struct line *line, char *buffer, size_t size)
{
    *line = (struct line){ .text = buffer, .size = size, .used = 0, .cut = false };
    buffer[0] = '\0';
}

void line_bytes(struct line *line, const char *bytes, size_t size)
{
    size_t room = line->size - 1 - line->used;

    if (size > room) {
        size = room;
        line->cut = true;
    }
    for (size_t i = 0; i < size; i++)
        line->text[line->used++] = bytes[i];
    line->text[line->used] = '\0';
}

void line_put(struct line *line, char c)
{
    line_bytes(line, &c, 1);
}

void line_text(struct line *line, const char *text)
{
    line_bytes(line, text, strlen(text));
}

void line_unsigned(struct line *line, uint64_t value)
{
    char digits[DIGITS_MAX];
    size_t first = DIGITS_MAX;

    do {
        digits[--first] = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    line_bytes(line, digits + first, DIGITS_MAX - first);
}

void line_signed(struct line *line, int64_t value)
{
    if (value < 0)
        line_put(line, '-');
    line_unsigned(line, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void line_hex(struct line *line, unsigned char byte)
{
    static const char digits[] = "0123456789abcdef";

    line_put(line, digits[byte >> 4]);
    line_put(line, digits[byte & 15]);
}

void line_format(struct line *line, const char *format, ...)
{
    size_t room = line->size - line->used;
    va_list arguments;
    int wanted;

    va_start(arguments, format);
    wanted = vsnprintf(line->text + line->used, room, format, arguments);
    va_end(arguments);
    if (wanted < 0) {
        line->text[line->used] = '\0';
        line->cut = true;
    } else if ((size_t)wanted >= room) {
        line->used = line->size - 1;
        line->cut = true;
    } else {
        line->used += (size_t)wanted;
    }
}
