/* SPDX-License-Identifier: MIT */
/*
 * log/log_line.h - formats a log line as logfmt, JSON, or a text for people. Pure, and safe in a
 * signal handler but for fields of kind WEIR_F64; the caller supplies the time.
 *
 * The text is always one line: bytes that are no UTF-8, and characters that control a terminal (see
 * weir/printable.h), are escaped. It has at most LOG_LINE_MAX bytes with the newline, which a pipe
 * takes in one piece (PIPE_BUF); a longer one is truncated and ends with `cut=true`.
 */
#ifndef HOST_LOG_LOG_LINE_H
#define HOST_LOG_LOG_LINE_H

#include "base/log.h"
#include "config/log_format.h"

#define LOG_LINE_MAX 4096 /* PIPE_BUF of Linux: a write of that size is never torn */

struct log_style {
    enum log_format format;
    bool journal; /* begin with the priority of sd-daemon(3), `<6>` */
    bool colour;  /* of the level, in LOG_TEXT */
    long zone_s;  /* seconds east of UTC, for the time in LOG_TEXT */
};

/*
 * Writes `from` with its newline to `buffer` of LOG_LINE_MAX + 1 bytes and returns the length
 * without the NUL. `date_us` is microseconds since 1970, UTC. The format is not LOG_AUTO.
 */
size_t log_line_write(char *buffer, const struct log_style *style, uint64_t date_us,
                      const struct log_line *from);

/* `error`, `warning`, `info`, `debug`. Static text. */
const char *log_line_level(enum weir_log_level level);

#endif
