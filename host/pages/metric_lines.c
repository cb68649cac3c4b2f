/* SPDX-License-Identifier: MIT */
#include "host/pages/metric_lines.h"

#include <inttypes.h>

void metric_lines_begin(FILE *stream, const char *name, const char *type, const char *help)
{
    fprintf(stream, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

void metric_lines_put_value(FILE *stream, const char *text)
{
    for (; *text; text++) {
        if (*text == '\\' || *text == '"')
            fprintf(stream, "\\%c", *text);
        else if (*text == '\n')
            fputs("\\n", stream);
        else
            (void)fputc(*text, stream);
    }
}

void metric_lines_write(FILE *stream, const char *name, const char *label, const char *value,
                        const char *second, const char *second_value, uint64_t number)
{
    fprintf(stream, "%s{%s=\"", name, label);
    metric_lines_put_value(stream, value);
    if (second_value) {
        fprintf(stream, "\",%s=\"", second);
        metric_lines_put_value(stream, second_value);
    }
    fprintf(stream, "\"} %" PRIu64 "\n", number);
}
