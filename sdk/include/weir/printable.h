/* SPDX-License-Identifier: MIT */
/*
 * weir/printable.h - makes text from outside safe for a terminal or a log.
 *
 * Text of a file, a plugin or a peer may contain characters that control a terminal, that end a
 * line, or that change the direction of writing. To print such text, step through it with
 * weir_printable, and write the other bytes as escapes. The functions use no global data: any
 * thread may call them, also in a signal handler.
 */
#ifndef WEIR_PRINTABLE_H
#define WEIR_PRINTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Decodes the well-formed character in the `length` bytes at `bytes`. */
static inline uint32_t weir_printable_decode_(const unsigned char *bytes, size_t length)
{
    uint32_t character = length == 1 ? bytes[0] : bytes[0] & (0xffu >> (length + 1));

    for (size_t i = 1; i < length; i++)
        character = character << 6 | (bytes[i] & 0x3fu);
    return character;
}

/* Length in bytes of the well-formed UTF-8 character at the start of `size` bytes (at least 1); 0:
 * there is none. Overlong forms and surrogates are not well formed. */
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

/* True for control characters, line ends of Unicode, and characters that change the direction of
 * writing. */
static inline bool weir_printable_is_obeyed_(uint32_t character)
{
    return character < 0x20 || (character >= 0x7f && character < 0xa0) || character == 0x61c ||
           character == 0x200e || character == 0x200f ||
           (character >= 0x2028 && character <= 0x202e) ||
           (character >= 0x2066 && character <= 0x2069);
}

/*
 * Length in bytes of the first character of the `size` bytes (at least 1) at `text`, if the
 * character can be printed unchanged: it is well-formed UTF-8 and does not control a terminal. 0:
 * escape the first byte.
 */
static inline size_t weir_printable(const char *text, size_t size)
{
    const unsigned char *bytes = (const unsigned char *)text;
    size_t length = weir_printable_length_(bytes, size);

    return length > 0 && !weir_printable_is_obeyed_(weir_printable_decode_(bytes, length)) ? length
                                                                                           : 0;
}

/* Replaces by `?`, in place, each byte of a text that is not part of a printable character. */
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
