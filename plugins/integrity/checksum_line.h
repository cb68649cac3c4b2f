/* SPDX-License-Identifier: MIT */
/*
 * checksum_line.h - takes one line of a list of MD5 sums apart, as `md5sum -c` does.
 *
 *     d41d8cd98f00b204e9800998ecf8427e  usr/share/doc/empty file
 *     \d41d8cd98f00b204e9800998ecf8427e  back\\slash\nand line end
 *
 * 32 hexadecimal digits of either case, one space or tab, a space (text) or `*` (binary, the same
 * here), and the name up to the end of the line with all its spaces. A leading backslash says that
 * the name is escaped. Not synchronised; nothing is allocated.
 */
#ifndef CHECKSUM_LINE_H
#define CHECKSUM_LINE_H

#include <limits.h>
#include <stddef.h>

#define CHECKSUM_SIZE 16u /* bytes of an MD5 sum */

struct checksum_line {
    unsigned char sum[CHECKSUM_SIZE];
    size_t path_size;    /* bytes, without the NUL */
    char path[PATH_MAX]; /* unescaped; ends with NUL; without leading slashes: relative to a root */
};

/*
 * Parses `size` bytes; borrows them. NULL when `out_line` is filled; else a static phrase with the
 * mistake, and `out_line` has undefined content.
 */
const char *checksum_line_parse(const char *text, size_t size, struct checksum_line *out_line);

/* True for an empty line and for a comment, which begins with `#`: there is nothing to check. */
static inline int checksum_line_is_blank(const char *text, size_t size)
{
    return size == 0 || text[0] == '#';
}

#endif
