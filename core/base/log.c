/* SPDX-License-Identifier: MIT */
#include "base/log.h"

#include "base/lock.h"

#define LOG_FIELDS_MAX 16 /* more than any line of ours has */

void log_write(const struct log_sink *sink, const struct log_line *line)
{
    if (!sink || !sink->write)
        return;
    lock_expect_none_of_core();
    sink->write(sink->context, line);
}

void log_conceal(const struct log_sink *sink, char *text, size_t size)
{
    if (!sink->conceal)
        return;
    lock_expect_none_of_core();
    sink->conceal(sink->context, text, size);
}

static void write_fields(const struct log_sink *sink, const struct log_line *begun,
                         va_list arguments)
{
    struct weir_field fields[LOG_FIELDS_MAX + 1];
    struct log_line line = *begun;
    size_t count = 0;

    while (count < LOG_FIELDS_MAX) {
        fields[count] = va_arg(arguments, struct weir_field);
        if (!fields[count].key)
            break;
        count++;
    }
    fields[count].key = NULL;
    line.fields = fields;
    log_write(sink, &line);
}

void log_event_fields(const struct log_sink *sink, enum weir_log_level level, const char *component,
                      const char *event, ...)
{
    struct log_line line = { .level = level, .component = component, .event = event };
    va_list arguments;

    va_start(arguments, event);
    write_fields(sink, &line, arguments);
    va_end(arguments);
}

void log_answer_fields(const struct log_sink *sink, enum weir_log_level level,
                       const char *component, const char *event, ...)
{
    struct log_line line = {
        .level = level, .component = component, .event = event, .is_answer = true
    };
    va_list arguments;

    va_start(arguments, event);
    write_fields(sink, &line, arguments);
    va_end(arguments);
}
