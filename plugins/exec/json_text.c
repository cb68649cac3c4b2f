/* SPDX-License-Identifier: MIT */
#include "json_text.h"

#include <stdint.h>
#include <string.h>

#define LOWEST 0x20u   /* lower characters are always escaped */
#define ESCAPE_SIZE 6u /* \u001f */

/* --- UTF-8 ------------------------------------------------------------------------------------ */

/* Bytes of the character at `at`; 0: it is none of UTF-8. */
static size_t size_of_character(const unsigned char *at, size_t left)
{
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    size_t size = *at < 0x80 ? 1 : *at < 0xc0 ? 0 : *at < 0xe0 ? 2 : *at < 0xf0 ? 3 : 4;
    uint32_t code = *at & (0xffu >> (size + 1));

    if (size == 1)
        return 1;
    if (size == 0 || *at > 0xf4 || size > left)
        return 0;
    for (size_t i = 1; i < size; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (at[i] & 0x3fu);
    }
    return code < least[size] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ? 0 : size;
}

bool json_text_is_utf8(const void *bytes, size_t size)
{
    const unsigned char *at = bytes;

    while (size > 0) {
        size_t here = size_of_character(at, size);

        if (here == 0)
            return false;
        at += here;
        size -= here;
    }
    return true;
}

static char *write_utf8(char *to, uint32_t code)
{
    size_t size = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char first[] = { 0, 0, 0xc0, 0xe0, 0xf0 };

    for (size_t i = size; i-- > 1; code >>= 6)
        to[i] = (char)(0x80 | (code & 0x3f));
    to[0] = (char)(first[size] | code);
    return to + size;
}

/* --- writing ---------------------------------------------------------------------------------- */

static size_t escaped_size(char c)
{
    if ((unsigned char)c < LOWEST)
        return c == '\n' ? 2 : ESCAPE_SIZE;
    return c == '"' || c == '\\' ? 2 : 1;
}

size_t json_text_size(const char *text, size_t size)
{
    size_t total = 0;

    for (size_t i = 0; i < size; i++)
        total += escaped_size(text[i]);
    return total;
}

void json_text_write(char *to, const char *text, size_t size)
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < size; i++) {
        size_t here = escaped_size(text[i]);

        if (here == 1) {
            *to = text[i];
        } else if (here == 2) {
            to[0] = '\\';
            to[1] = text[i] == '\n' ? 'n' : text[i];
        } else {
            memcpy(to, "\\u00", 4);
            to[4] = digits[(unsigned char)text[i] >> 4];
            to[5] = digits[text[i] & 15];
        }
        to += here;
    }
}

/* --- reading ---------------------------------------------------------------------------------- */

/* Reads four hexadecimal digits; *at moves behind them. */
static bool read_digits(const char **at, const char *end, uint32_t *out_code)
{
    uint32_t code = 0;

    if (end - *at < 4)
        return false;
    for (const char *stop = *at + 4; *at < stop; ++*at) {
        char c = (char)(**at | 0x20);

        if (c >= '0' && c <= '9')
            code = code << 4 | (uint32_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            code = code << 4 | (uint32_t)(c - 'a' + 10);
        else
            return false;
    }
    *out_code = code;
    return true;
}

/* Reads what follows \u: one code, or the two halves of a pair. */
static bool read_code(const char **at, const char *end, uint32_t *out_code)
{
    uint32_t high, low;

    if (!read_digits(at, end, &high))
        return false;
    *out_code = high;
    if (high < 0xd800 || high >= 0xe000)
        return true;
    if (high >= 0xdc00 || end - *at < 2 || (*at)[0] != '\\' || (*at)[1] != 'u')
        return false;
    *at += 2;
    if (!read_digits(at, end, &low) || low < 0xdc00 || low >= 0xe000)
        return false;
    *out_code = 0x10000 + ((high - 0xd800) << 10 | (low - 0xdc00));
    return true;
}

/* Reads the escape after a backslash. Returns the end of the written characters; NULL: it is no
 * escape. */
static char *read_escape(const char **at, const char *end, char *to)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    const char *name = *at < end ? memchr(names, **at, sizeof names - 1) : NULL;
    uint32_t code;

    if (name) {
        ++*at;
        *to = values[name - names];
        return to + 1;
    }
    if (*at == end || **at != 'u')
        return NULL;
    ++*at;
    return read_code(at, end, &code) ? write_utf8(to, code) : NULL;
}

bool json_text_read(char **at, const char *end, char **out_text, size_t *out_size)
{
    char *to = *at;
    const char *from = *at;

    *out_text = to;
    while (from < end && *from != '"') {
        if ((unsigned char)*from < LOWEST)
            return false;
        if (*from != '\\') {
            *to++ = *from++;
            continue;
        }
        from++;
        to = read_escape(&from, end, to);
        if (!to)
            return false;
    }
    if (from == end)
        return false;
    *out_size = (size_t)(to - *out_text);
    *at += from + 1 - *at;
    return true;
}
