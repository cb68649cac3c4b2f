#include "base/log.h"

#define LOG_FIELDS_MAX 16 /* more than any line of ours has */

void log_write(const struct log_sink *sink, const struct log_line *line)
{
    if (sink && sink->write)
        sink->write(sink->context, line);
}

void log_event_fields(const struct log_sink *sink, enum weir_log_level level, const char *component,
                      const char *event, ...)
{
    struct weir_field fields[LOG_FIELDS_MAX + 1];
    struct log_line line = { level, component, event, fields };
    va_list arguments;
    size_t count = 0;

    va_start(arguments, event);
    while (count < LOG_FIELDS_MAX) {
        fields[count] = va_arg(arguments, struct weir_field);
        if (!fields[count].key)
            break;
        count++;
    }
    fields[count].key = NULL;
    va_end(arguments);
    log_write(sink, &line);
}
