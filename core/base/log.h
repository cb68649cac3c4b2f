/*
 * base/log.h - one line per event, handed to whoever created the runtime.
 *
 * The runtime writes nowhere itself. A sink is called from any thread, also several at once; it
 * must not block for long, and must not call back into the runtime.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdbool.h>

#include <weir/host.h>

struct log_line {
    enum weir_log_level level;
    const char *component;           /* `pool`, `reload`, ... or the path of an actor */
    const char *event;               /* what happened, without figures */
    const struct weir_field *fields; /* ends with a NULL key; may be NULL */
    bool is_answer; /* of the host itself, to its operator: no limit counts it instead */
};

struct log_sink {
    void (*write)(void *context, const struct log_line *line);
    void *context;
};

/* Writes a line; a NULL sink drops it. Borrows everything until it returns. */
void log_write(const struct log_sink *sink, const struct log_line *line);

/*
 * log_event(sink, level, component, event, field...): the fields are made by weir_str, weir_int,
 * weir_uint, weir_real; at most 16.
 */
#define log_event(sink, level, component, ...)                                                     \
    log_event_fields(sink, level, component, __VA_ARGS__, weir_str(NULL, NULL))

/* The same, for what was asked for, or is said once. */
#define log_answer(sink, level, component, ...)                                                    \
    log_answer_fields(sink, level, component, __VA_ARGS__, weir_str(NULL, NULL))

void log_event_fields(const struct log_sink *sink, enum weir_log_level level, const char *component,
                      const char *event, ...);
void log_answer_fields(const struct log_sink *sink, enum weir_log_level level,
                       const char *component, const char *event, ...);

#endif
