/* SPDX-License-Identifier: MIT */
#include "config/encoding.h"

#include <stdbool.h>
#include <string.h>

static unsigned byte_at(const char *bytes, size_t index)
{
    return (unsigned char)bytes[index];
}

/* The smallest character of each encoded length: a smaller one has a shorter encoding. */
static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };

static size_t length_of(unsigned lead)
{
    if (lead < 0x80)
        return 1;
    if (lead >= 0xc2 && lead < 0xe0)
        return 2;
    if (lead >= 0xe0 && lead < 0xf0)
        return 3;
    return lead >= 0xf0 && lead < 0xf5 ? 4 : 0;
}

/* Returns the length of the character at `bytes`, or 0 when the bytes are not valid. */
static size_t decode(const char *bytes, size_t size, uint32_t *out)
{
    size_t length = length_of(byte_at(bytes, 0));
    uint32_t character = byte_at(bytes, 0) & (length == 1 ? 0x7fu : 0xffu >> (length + 1));

    if (length == 0 || length > size)
        return 0;
    for (size_t i = 1; i < length; i++) {
        if ((byte_at(bytes, i) & 0xc0) != 0x80)
            return 0;
        character = character << 6 | (byte_at(bytes, i) & 0x3f);
    }
    if (character < smallest[length] || character > 0x10ffff ||
        (character >= 0xd800 && character < 0xe000))
        return 0;
    *out = character;
    return length;
}

static const char *wrong_character(uint32_t character)
{
    if (character == 0)
        return "holds a NUL character";
    if ((character < 0x20 && character != '\t' && character != '\n' && character != '\r') ||
        character == 0x7f || (character >= 0x80 && character < 0xa0 && character != 0x85))
        return "holds a control character";
    if (character == 0xfffe || character == 0xffff)
        return "holds a character that is none in Unicode";
    return NULL;
}

static const char *wrong_start(const char *bytes, size_t size)
{
    static const char compiled[] = "\x7f"
                                   "ELF";
    bool little = size >= 2 && byte_at(bytes, 0) == 0xff && byte_at(bytes, 1) == 0xfe;
    bool big = size >= 2 && byte_at(bytes, 0) == 0xfe && byte_at(bytes, 1) == 0xff;
    bool first_empty = size >= 2 && bytes[0] == '\0' && bytes[1] != '\0';
    bool second_empty = size >= 2 && bytes[0] != '\0' && bytes[1] == '\0';

    if (size >= 4 && memcmp(bytes, compiled, 4) == 0)
        return "is compiled, and no configuration; `weir check --plugin FILE` checks a plugin";
    return little || big || first_empty || second_empty ? "is UTF-16 or UTF-32, save it as UTF-8"
                                                        : NULL;
}

/* A walk over a text, one character after another. */
struct walk {
    size_t at;
    struct mark mark;
};

/* Any character but the end of a line. */
static const char *step(struct walk *walk, const char *bytes, size_t size)
{
    uint32_t character = 0;
    size_t length = decode(bytes + walk->at, size - walk->at, &character);
    const char *problem = length ? wrong_character(character) : "is not valid UTF-8";

    if (problem)
        return problem;
    walk->at += length;
    walk->mark.column++;
    return NULL;
}

static void end_line(struct walk *walk)
{
    walk->at++;
    walk->mark.line++;
    walk->mark.column = 1;
}

/* Counts the plain letters that come next, at most to the end of the line. Most of a file is
 * plain. */
static size_t plain_letters(const char *bytes, size_t size)
{
    size_t length = 0;

    while (length < size && byte_at(bytes, length) >= 0x20 && byte_at(bytes, length) < 0x7f)
        length++;
    return length;
}

static const char *walk_all(struct walk *walk, const char *bytes, size_t size, bool lines)
{
    const char *problem = NULL;

    while (!problem && walk->at < size) {
        const char *here = bytes + walk->at;
        size_t plain;

        if (lines && walk->mark.column == 1 && size - walk->at > 4 && memcmp(here, "%TAG", 4) == 0)
            return "%TAG directives are not supported";
        plain = plain_letters(here, size - walk->at);
        walk->at += plain;
        walk->mark.column += (uint32_t)plain;
        if (walk->at < size && bytes[walk->at] == '\n')
            end_line(walk);
        else if (walk->at < size)
            problem = step(walk, bytes, size);
    }
    return problem;
}

const char *encoding_problem(const char *bytes, size_t size)
{
    struct walk walk = { 0, { NULL, 1, 1 } };

    return walk_all(&walk, bytes, size, false);
}

int encoding_check(const char *file, const char *bytes, size_t size, struct report *report)
{
    struct walk walk = { 0, { file, 1, 1 } };
    const char *problem = wrong_start(bytes, size);

    if (!problem)
        problem = walk_all(&walk, bytes, size, true);
    if (!problem)
        return WEIR_OK;
    report_add(report, &walk.mark, NULL, "%s", problem);
    return WEIR_EINVALID;
}
