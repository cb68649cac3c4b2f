/* SPDX-License-Identifier: MIT */
/*
 * base64.h - bytes as text (RFC 4648, with padding).
 */
#ifndef BASE64_H
#define BASE64_H

#include <stdbool.h>
#include <stddef.h>

/* Characters for `size` bytes, without NUL. */
static inline size_t base64_size(size_t size)
{
    return (size + 2) / 3 * 4;
}

/* Writes base64_size(size) characters. Borrows. */
void base64_write(char *to, const void *bytes, size_t size);

/* Replaces the text with its bytes. False: it is no base64, and the text is lost. */
bool base64_read(char *text, size_t size, size_t *out_size);

#endif
