/* SPDX-License-Identifier: MIT */
#include "base64.h"

#include <string.h>

#define GROUP 4u      /* characters */
#define GROUP_BYTES 3 /* bytes of a group */

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_write(char *to, const void *bytes, size_t size)
{
    const unsigned char *from = bytes;

    for (; size > 0; to += GROUP) {
        size_t here = size < GROUP_BYTES ? size : GROUP_BYTES;
        unsigned bits = (unsigned)from[0] << 16 | (here > 1 ? (unsigned)from[1] << 8 : 0) |
                        (here > 2 ? from[2] : 0);

        to[0] = alphabet[bits >> 18];
        to[1] = alphabet[bits >> 12 & 63];
        to[2] = here > 1 ? alphabet[bits >> 6 & 63] : '=';
        to[3] = here > 2 ? alphabet[bits & 63] : '=';
        from += here;
        size -= here;
    }
}

/* Reads one group with `letters` characters before the padding. */
static bool read_group(const char *text, size_t letters, unsigned *out_bits)
{
    unsigned bits = 0;

    for (size_t i = 0; i < GROUP; i++) {
        const char *at = i < letters ? memchr(alphabet, text[i], sizeof alphabet - 1) : alphabet;

        if (!at)
            return false;
        bits = bits << 6 | (unsigned)(at - alphabet);
    }
    *out_bits = bits;
    return true;
}

static size_t count_letters(const char *text, bool is_last)
{
    if (is_last && text[3] == '=')
        return text[2] == '=' ? 2 : 3;
    return GROUP;
}

bool base64_read(char *text, size_t size, size_t *out_size)
{
    unsigned char *to = (unsigned char *)text;
    unsigned bits;

    for (size_t i = 0; i < size; i += GROUP) {
        size_t letters = size - i < GROUP ? 0 : count_letters(text + i, size - i == GROUP);

        if (letters == 0 || !read_group(text + i, letters, &bits))
            return false;
        for (size_t k = 1; k < letters; k++)
            *to++ = (unsigned char)(bits >> (24 - 8 * k));
    }
    *out_size = (size_t)(to - (unsigned char *)text);
    return true;
}
