/* SPDX-License-Identifier: MIT */
/*
 * base/log.h - one line for each event, for the sink of the runtime's creator.
 *
 * The runtime has no output of its own. A sink is called from any thread, also several at once; it
 * must not block for long. The runtime holds none of its locks while it calls a sink, so the caller
 * of these functions holds none: log.c checks it.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdbool.h>
#include <stddef.h>

#include <weir/log.h>

struct log_line {
    enum weir_log_level level;
    const char *component;           /* `pool`, `reload`, ... or the path of an actor */
    const char *event;               /* a sentence without figures */
    const struct weir_field *fields; /* ends with a NULL key; may be NULL */
    bool is_answer; /* an answer to the operator: exempt from the limit of repeated lines */
};

struct log_sink {
    void (*write)(void *context, const struct log_line *line);
    /* Hides what no text may show, in a buffer of `size` bytes; NULL: there is nothing to hide. */
    void (*conceal)(void *context, char *text, size_t size);
    void *context;
};

/* Writes a line; a NULL sink drops it. Borrows everything until it returns. */
void log_write(const struct log_sink *sink, const struct log_line *line);

/* Hides in a text that leaves the runtime by other ways what the log does not show either. */
void log_conceal(const struct log_sink *sink, char *text, size_t size);

/*
 * log_event(sink, level, component, event, field...): weir_str, weir_int, weir_uint and weir_real
 * make the fields; at most 16.
 */
#define log_event(sink, level, component, ...)                                                     \
    log_event_fields(sink, level, component, __VA_ARGS__, weir_str(NULL, NULL))

/* As log_event, for answers to the operator, and lines that are written once. */
#define log_answer(sink, level, component, ...)                                                    \
    log_answer_fields(sink, level, component, __VA_ARGS__, weir_str(NULL, NULL))

void log_event_fields(const struct log_sink *sink, enum weir_log_level level, const char *component,
                      const char *event, ...);
void log_answer_fields(const struct log_sink *sink, enum weir_log_level level,
                       const char *component, const char *event, ...);

#endif
