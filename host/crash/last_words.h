/* SPDX-License-Identifier: MIT */
/*
 * crash/last_words.h - the log line of a thread because of which the process ends.
 *
 * It is written in signal handlers, so it passes by the logger's locks and the screen: it is
 * formatted as the log is, and written with write(2) alone.
 *
 * One per process, since a signal handler can only reach globals. last_words_begin and
 * last_words_end: before and after all handlers that write.
 */
#ifndef HOST_CRASH_LAST_WORDS_H
#define HOST_CRASH_LAST_WORDS_H

#include <stdbool.h>
#include <stdint.h>

#include <weir/label.h>
#include <weir/log.h>

struct logger;

/* The callback that runs on this thread, or that ran there last. Any string may be NULL. */
struct crash_note {
    const char *pool; /* the path of the pool or source */
    const char *code; /* `plugin=NAME/VERSION generation=N behaviour=NAME` */
    const char *tag;
    const char *label; /* of the message; "" without one */
    uint64_t identity; /* of the message in hand; 0: none, or not kept */
    uint32_t attempt;  /* of the message; 0: not known */
    uint32_t worker;
    const char *callback; /* its name, such as `handle` */
    bool inside;          /* it runs */
};

#define LAST_WORDS_SIGNAL 24u /* bytes of a signal's name, with its NUL */

/* `SIGSEGV`. Safe in a signal handler. Returns `out`. */
const char *last_words_signal(int number, char out[LAST_WORDS_SIGNAL]);

/* Lines go to `descriptor`, in the format of the logger (borrowed until last_words_end; NULL: as
 * logfmt), and do not show what it hides. */
void last_words_begin(int descriptor, struct logger *logger);
void last_words_end(void);

/* Copies the label of the note, or "", without what the log hides. Safe in a signal handler. */
void last_words_label(const struct crash_note *note, char out[WEIR_LABEL_SIZE]);

/*
 * Writes the line, of level error: `event`, `fields` (at most four, up to one without a key), what
 * the note says (NULL: nothing is known), and `effect`. Safe in a signal handler.
 */
void last_words_write(const char *event, const struct weir_field *fields,
                      const struct crash_note *note, const char *effect);

/* Writes the stack of that thread, in a line of its own. `pool` may be NULL. Safe in a signal
 * handler. */
void last_words_write_stack(const char *pool, const char *stack);

#endif
