/* SPDX-License-Identifier: MIT */
/*
 * weir/log.h - a line of the log, with key=value pairs.
 *
 * Part of <weir/plugin.h>: include that.
 */
#ifndef WEIR_LOG_H
#define WEIR_LOG_H

#include "host.h"

/* A text field of a log line. Borrows key and value until weir_log returns. */
WEIR_INLINE struct weir_field weir_str(const char *key, const char *value)
{
    struct weir_field field;

    field.key = key;
    field.kind = WEIR_STRING;
    field.reserved = 0;
    field.value.string = value;
    return field;
}

/* A signed number as a field of a log line. Borrows the key until weir_log returns. */
WEIR_INLINE struct weir_field weir_int(const char *key, int64_t value)
{
    struct weir_field field;

    field.key = key;
    field.kind = WEIR_I64;
    field.reserved = 0;
    field.value.integer = value;
    return field;
}

/* An unsigned number as a field of a log line. Borrows the key until weir_log returns. */
WEIR_INLINE struct weir_field weir_uint(const char *key, uint64_t value)
{
    struct weir_field field;

    field.key = key;
    field.kind = WEIR_U64;
    field.reserved = 0;
    field.value.natural = value;
    return field;
}

/* A real number as a field of a log line. Borrows the key until weir_log returns. */
WEIR_INLINE struct weir_field weir_real(const char *key, double value)
{
    struct weir_field field;

    field.key = key;
    field.kind = WEIR_F64;
    field.reserved = 0;
    field.value.real = value;
    return field;
}

/*
 * Logs one line: weir_log(self, level, event, field...) writes `event key=value ...`. The host adds
 * time, level, pool and worker. At most 8 fields; further fields are ignored.
 *
 *     weir_log(self, WEIR_LOG_WARNING, "unreadable", weir_str("path", p), weir_int("errno", e));
 */
#define weir_log(self, level, ...) weir_log_fields(self, level, __VA_ARGS__, weir_str(NULL, NULL))

/* Called by weir_log. The last field has a NULL key. */
WEIR_INLINE void weir_log_fields(struct weir_self *self, enum weir_log_level level,
                                 const char *event, ...)
{
    struct weir_field fields[9];
    va_list arguments;
    size_t count = 0;

    va_start(arguments, event);
    while (count < 8) {
        fields[count] = va_arg(arguments, struct weir_field);
        if (!fields[count].key)
            break;
        count++;
    }
    fields[count].key = NULL;
    va_end(arguments);
    self->host->log(self, level, event, fields);
}

#endif
