/* SPDX-License-Identifier: MIT */
#include "host/pages/dead_file_pages.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/text.h"
#include "host/pages/metric_lines.h"

/* False: there is no file. The caller frees out->path. */
static bool look(const struct overview *overview, struct dead_file_figures *out)
{
    if (!overview->dead_file)
        return false;
    dead_file_figures(overview->dead_file, out);
    return out->path != NULL;
}

void dead_file_pages_json(const struct overview *overview, struct json *json)
{
    struct dead_file_figures figures;
    char text[512];

    if (!look(overview, &figures))
        return;
    json_begin_object(json, "dead_letter_file");
    json_text(json, "path", figures.path);
    json_unsigned(json, "records", figures.records);
    json_unsigned(json, "bytes", figures.size);
    json_unsigned(json, "waiting", figures.waiting);
    json_unsigned(json, "lost", figures.lost);
    json_text(json, "error",
              figures.error ? dead_output_reason(figures.path, figures.error, text, sizeof text)
                            : "");
    json_end(json);
    free(figures.path);
}

void dead_file_pages_print(const struct overview *overview, FILE *stream)
{
    struct dead_file_figures figures;
    char size[32], text[512];

    if (!look(overview, &figures))
        return;
    text_format_size(figures.size, size, sizeof size);
    fprintf(stream, "dead letters in %s: %" PRIu64 ", %s", figures.path, figures.records, size);
    if (figures.waiting > 0)
        fprintf(stream, ", %" PRIu64 " wait", figures.waiting);
    if (figures.lost > 0)
        fprintf(stream, ", %" PRIu64 " were not stored", figures.lost);
    if (figures.error != 0)
        fprintf(stream, "; cannot be written: %s",
                dead_output_reason(figures.path, figures.error, text, sizeof text));
    fputc('\n', stream);
    free(figures.path);
}

static void write_metric(FILE *stream, const char *name, const char *type, const char *help,
                         uint64_t value)
{
    metric_lines_begin(stream, name, type, help);
    fprintf(stream, "%s %" PRIu64 "\n", name, value);
}

void dead_file_pages_metrics(const struct overview *overview, FILE *stream)
{
    struct dead_file_figures figures;

    if (!look(overview, &figures))
        return;
    write_metric(stream, "weir_dead_letter_file_bytes", "gauge", "Of host.dead_letters.file.",
                 figures.size);
    write_metric(stream, "weir_dead_letter_file_records", "gauge", "Dead letters in that file.",
                 figures.records);
    write_metric(stream, "weir_dead_letter_file_waiting", "gauge",
                 "Dead letters that are not in that file yet.", figures.waiting);
    write_metric(stream, "weir_dead_letter_file_lost_total", "counter",
                 "Dead letters that were not written to that file.", figures.lost);
    write_metric(stream, "weir_dead_letter_file_failing", "gauge",
                 "1 while that file cannot be written.", figures.error != 0);
    free(figures.path);
}
