/*
 * log/screen.h - the two streams of the program and the progress line that shares one of them.
 *
 * Lines go out whole: log lines to standard error, what workers print to standard output. On a
 * terminal the progress line stands below them: it is wiped before a line and drawn again after.
 *
 * Life: screen_create .. screen_destroy. Every function may be called from any thread, several at
 * once. Two locks, taken in this order: printing (who prints may wait for a slow reader of
 * standard output), then terminal. Who prints on a terminal that its user has stopped holds both;
 * log lines and the progress line wait SCREEN_PATIENCE_MS for it, and are lost then.
 */
#ifndef HOST_LOG_SCREEN_H
#define HOST_LOG_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

#define SCREEN_PATIENCE_MS 100 /* a log line waits no longer than this for a full pipe */

struct screen;

/* Returns owned; NULL when memory is out. The descriptors stay the caller's. */
struct screen *screen_create(int output, int error);
/* Wipes the progress line. NULL is allowed. */
void screen_destroy(struct screen *screen);

/*
 * Writes one log line to standard error, whole. Borrows. WEIR_EFULL: its reader is stuck, the line
 * is lost; further lines are not waited for until one has gone through. WEIR_ECLOSED: no reader.
 */
int screen_log(struct screen *screen, const char *line, size_t size);

/* Writes text of `*size` to standard output, whole, waiting for its reader. Borrows. WEIR_ECLOSED:
 * `*size` of it, the end, cannot be written; `out_error` is the errno that says why. */
int screen_print(struct screen *screen, const char *text, size_t *size, int *out_error);

/* Shows a progress line, shorter than screen_width and without control characters; "" wipes it. */
void screen_status(struct screen *screen, const char *text);

/* True when a progress line can be shown: standard error is a terminal that can move its cursor. */
bool screen_can_show_status(const struct screen *screen);

/* Columns of the terminal; 80 when it does not tell. */
size_t screen_width(const struct screen *screen);

#endif
