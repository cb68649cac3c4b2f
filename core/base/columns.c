/* SPDX-License-Identifier: MIT */
#include "base/columns.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#define COUNT_EXACT_MAX 99999u
#define INDENT "    "
#define INDENT_WIDTH (sizeof INDENT - 1)

/* --- numbers ---------------------------------------------------------------------------------- */

struct scale {
    uint64_t step; /* from one unit to the next */
    int digits;    /* 2 or 3, of a number below 100 */
    const char *units[7];
};

/* Rounded down; the largest unit that leaves a whole number below 1000. */
static void write_scaled(uint64_t value, const struct scale *scale, char *text, size_t size)
{
    uint64_t factor = scale->step;
    uint64_t whole, fraction, limit;
    size_t unit = 0;

    while (scale->units[unit + 1] && value / factor >= 1000) {
        factor *= scale->step;
        unit++;
    }
    whole = value / factor;
    limit = scale->digits == 3 && whole < 10 ? 100 : 10;
    /* In this order nothing overflows; the divisor may be rounded down. */
    fraction = value % factor / (factor / limit);
    if (whole >= (scale->digits == 3 ? 100u : 10u))
        (void)snprintf(text, size, "%" PRIu64 "%s", whole, scale->units[unit]);
    else
        (void)snprintf(text, size, "%" PRIu64 ".%0*" PRIu64 "%s", whole, limit == 100 ? 2 : 1,
                       fraction < limit ? fraction : limit - 1, scale->units[unit]);
}

void columns_count(uint64_t count, char *text, size_t size)
{
    static const struct scale scale = { 1000, 3, { "k", "M", "G", "T", "P", "E" } };

    if (count <= COUNT_EXACT_MAX)
        (void)snprintf(text, size, "%" PRIu64, count);
    else
        write_scaled(count, &scale, text, size);
}

void columns_size(uint64_t bytes, char *text, size_t size)
{
    static const struct scale scale = { 1024, 2, { "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" } };

    if (bytes < 1000)
        (void)snprintf(text, size, "%" PRIu64 "B", bytes);
    else
        write_scaled(bytes, &scale, text, size);
}

void columns_age(uint64_t milliseconds, char *text, size_t size)
{
    uint64_t s = milliseconds / 1000;

    if (milliseconds < 1000)
        (void)snprintf(text, size, "%" PRIu64 "ms", milliseconds);
    else if (s < 60)
        (void)snprintf(text, size, "%" PRIu64 ".%" PRIu64 "s", s, milliseconds % 1000 / 100);
    else if (s < 3600)
        (void)snprintf(text, size, "%" PRIu64 "m%02" PRIu64 "s", s / 60, s % 60);
    else if (s < 86400)
        (void)snprintf(text, size, "%" PRIu64 "h%02" PRIu64 "m", s / 3600, s / 60 % 60);
    else if (s < 8640000)
        (void)snprintf(text, size, "%" PRIu64 "d%02" PRIu64 "h", s / 86400, s / 3600 % 24);
    else
        (void)snprintf(text, size, "%" PRIu64 "d", s / 86400);
}

/* --- texts ------------------------------------------------------------------------------------ */

/* A byte that continues a character of UTF-8. */
static bool continues(char byte)
{
    return ((unsigned char)byte & 0xc0u) == 0x80u;
}

/* The bytes of the first `width` characters. */
static size_t bytes_of(const char *text, size_t width)
{
    size_t at = 0;

    for (; text[at]; at++)
        if (!continues(text[at]) && width-- == 0)
            break;
    return at;
}

size_t columns_width(const char *text)
{
    size_t width = 0;

    for (; *text; text++)
        width += !continues(*text);
    return width;
}

void columns_cut(const char *text, size_t width, char *out, size_t size)
{
    size_t whole = columns_width(text);
    size_t after = width / 2;

    if (whole <= width)
        (void)snprintf(out, size, "%s", text);
    else
        (void)snprintf(out, size, "%.*s…%s", (int)bytes_of(text, width - 1 - after), text,
                       text + bytes_of(text, whole - after));
}

/* The bytes of a line, without its end, that fit into `width` columns: up to a blank when there is
 * one after the first word. */
static size_t fitting(const char *line, size_t length, size_t width)
{
    size_t fits = bytes_of(line, width);
    size_t at;

    if (fits >= length)
        return length;
    for (at = fits; at > 0 && line[at] != ' '; at--)
        continue;
    return at > strspn(line, " ") ? at : fits;
}

static void fold_line(const char *line, size_t length, FILE *stream)
{
    size_t width = COLUMNS_PAGE;

    for (;;) {
        size_t part = fitting(line, length, width);

        (void)fwrite(line, 1, part, stream);
        while (part < length && line[part] == ' ')
            part++;
        line += part;
        length -= part;
        if (length == 0)
            break;
        fputs("\n" INDENT, stream);
        width = COLUMNS_PAGE - INDENT_WIDTH;
    }
    (void)fputc('\n', stream);
}

void columns_fold(const char *text, FILE *stream)
{
    while (*text) {
        size_t length = strcspn(text, "\n");

        fold_line(text, length, stream);
        text += length + (text[length] == '\n');
    }
}
