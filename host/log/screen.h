/* SPDX-License-Identifier: MIT */
/*
 * log/screen.h - the two streams of the program and the progress line that shares one of them.
 *
 * Lines are written whole: log lines to standard error, the text that workers print to standard
 * output. On a terminal the progress line stands below them: it is wiped before a line and drawn
 * again after it.
 *
 * Life: screen_create .. screen_destroy. Every function may be called from any thread, several at
 * once. Two locks, taken in this order: printing (a printing thread may wait for a slow reader of
 * standard output), then terminal. A thread that prints to a terminal that its user has stopped
 * holds both; log lines and the progress line wait SCREEN_TIMEOUT_MS for them, and are lost then.
 */
#ifndef HOST_LOG_SCREEN_H
#define HOST_LOG_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

#define SCREEN_TIMEOUT_MS 100 /* a log line waits no longer than this for a full pipe */

struct screen;

/* Returns owned; NULL when memory is out. The caller keeps the descriptors. */
struct screen *screen_create(int output, int error);
/* Wipes the progress line. NULL is allowed. */
void screen_destroy(struct screen *screen);

/*
 * Writes one whole log line to standard error. Borrows. WEIR_EFULL: the reader is stuck, the line
 * is lost; no further line waits until one is written again. WEIR_ECLOSED: no reader.
 */
int screen_log(struct screen *screen, const char *line, size_t size);

/* Writes a whole text of `*size` bytes to standard output, and waits for its reader. Borrows.
 * WEIR_ECLOSED: the last `*size` bytes cannot be written; `out_error` is the errno. */
int screen_print(struct screen *screen, const char *text, size_t *size, int *out_error);

/* Shows a progress line, shorter than screen_width and without control characters; "" wipes it. */
void screen_status(struct screen *screen, const char *text);

/* True when a progress line can be shown: standard error is a terminal that can move its cursor. */
bool screen_can_show_status(const struct screen *screen);

/* Columns of the terminal; 80 when it does not say. */
size_t screen_width(const struct screen *screen);

#endif
