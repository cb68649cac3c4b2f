/*
 * weir/printable.h - text from outside, for a terminal or a log.
 *
 * What a file, a plugin or a peer says may hold what a terminal obeys, what ends a line, or what
 * turns the direction of writing round. Whoever prints such text walks it by weir_printable and
 * writes what is none as an escape. Pure; any thread; also in a signal handler.
 */
#ifndef WEIR_PRINTABLE_H
#define WEIR_PRINTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The character of `length` bytes that `bytes` begin with, decoded; they are well formed. */
static inline uint32_t weir_printable_decode_(const unsigned char *bytes, size_t length)
{
    uint32_t character = length == 1 ? bytes[0] : bytes[0] & (0xffu >> (length + 1));

    for (size_t i = 1; i < length; i++)
        character = character << 6 | (bytes[i] & 0x3fu);
    return character;
}

/* Bytes of the well-formed UTF-8 character at the start, overlong forms and surrogates are none; 0
 * when there is none. */
static inline size_t weir_printable_length_(const unsigned char *bytes, size_t size)
{
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    size_t length = bytes[0] < 0x80                       ? 1
                    : bytes[0] >= 0xc2 && bytes[0] < 0xe0 ? 2
                    : bytes[0] >= 0xe0 && bytes[0] < 0xf0 ? 3
                    : bytes[0] >= 0xf0 && bytes[0] < 0xf5 ? 4
                                                          : 0;
    uint32_t character;

    if (length == 0 || length > size)
        return 0;
    for (size_t i = 1; i < length; i++) {
        if ((bytes[i] & 0xc0) != 0x80)
            return 0;
    }
    character = weir_printable_decode_(bytes, length);
    return character < least[length] || character > 0x10ffff ||
                   (character >= 0xd800 && character < 0xe000)
               ? 0
               : length;
}

/* Control characters, line ends of Unicode, and what changes the direction of writing. */
static inline bool weir_printable_is_obeyed_(uint32_t character)
{
    return character < 0x20 || (character >= 0x7f && character < 0xa0) || character == 0x61c ||
           character == 0x200e || character == 0x200f ||
           (character >= 0x2028 && character <= 0x202e) ||
           (character >= 0x2066 && character <= 0x2069);
}

/*
 * How many of the `size` bytes at `text`, at least one, are one character that can be printed as it
 * is: well-formed UTF-8, and nothing that a terminal obeys. 0: the first byte must be escaped.
 */
static inline size_t weir_printable(const char *text, size_t size)
{
    const unsigned char *bytes = (const unsigned char *)text;
    size_t length = weir_printable_length_(bytes, size);

    return length > 0 && !weir_printable_is_obeyed_(weir_printable_decode_(bytes, length)) ? length
                                                                                           : 0;
}

/* Writes `?` over each byte of a text that is not part of such a character. */
static inline void weir_printable_replace(char *text, size_t size)
{
    while (size > 0) {
        size_t length = weir_printable(text, size);

        if (length == 0) {
            *text = '?';
            length = 1;
        }
        text += length;
        size -= length;
    }
}

#ifdef __cplusplus
}
#endif

#endif
