/* SPDX-License-Identifier: MIT */
/*
 * log/line.h - builds one line of text in a buffer that never grows.
 *
 * Text that does not fit is cut off, and `cut` is set. The text always ends with NUL. The buffer
 * stays the caller's. Not synchronised. All functions but line_format are safe in a signal handler.
 */
#ifndef HOST_LOG_LINE_H
#define HOST_LOG_LINE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/host.h>

struct line {
    char *text;
    size_t size; /* of the buffer, with the NUL; at least 1 */
    size_t used; /* without the NUL */
    bool cut;
};

/* Starts an empty line. Borrows the buffer for as long as the line is used. */
void line_init(struct line *line, char *buffer, size_t size);

void line_put(struct line *line, char c);
void line_text(struct line *line, const char *text);
void line_bytes(struct line *line, const char *bytes, size_t size);
void line_unsigned(struct line *line, uint64_t value);
void line_signed(struct line *line, int64_t value);
/* Two hexadecimal digits. */
void line_hex(struct line *line, unsigned char byte);

/* As printf. */
WEIR_PRINTF(2, 3) void line_format(struct line *line, const char *format, ...);

#endif
