/* SPDX-License-Identifier: MIT */
#include "host/pages/unit_pages.h"

#include <inttypes.h>
#include <string.h>

#include "config/json.h"
#include "host/pages/metric_lines.h"

/* Called for each source and pool that has units. */
typedef void unit_visit(FILE *stream, const char *path, const struct pool_progress *units,
                        uint32_t count);

static void visit_sources_locked(const struct overview *overview, unit_visit *visit, FILE *stream)
{
    const struct settings *settings = overview->assembly->shared->settings;
    struct pool_progress units[PLACE_UNITS];

    for (uint32_t i = 0; i < settings->source_count; i++) {
        uint32_t count = source_progress(overview->assembly->sources[i], units, PLACE_UNITS);

        if (count > 0)
            visit(stream, settings->sources[i].name, units, count);
    }
}

static void visit_pools_locked(const struct overview *overview, unit_visit *visit, FILE *stream)
{
    const struct settings *settings = overview->assembly->shared->settings;
    struct pool_progress units[PLACE_UNITS];

    for (uint32_t i = 0; i < settings->pool_count; i++) {
        uint32_t count = settings->pools[i].nested
                             ? 0
                             : pool_progress(overview->assembly->pools[i], units, PLACE_UNITS);

        if (count > 0)
            visit(stream, settings->pools[i].path, units, count);
    }
}

/* --- status ----------------------------------------------------------------------------------- */

void unit_pages_json(const struct pool_progress *units, uint32_t count, struct json *json)
{
    if (count == 0)
        return;
    json_begin_object(json, "units");
    for (uint32_t i = 0; i < count; i++)
        if (units[i].text)
            json_text(json, units[i].unit, units[i].text);
        else
            json_unsigned(json, units[i].unit, units[i].done);
    json_end(json);
}

static void print_value(FILE *stream, const struct pool_progress *unit)
{
    if (unit->text)
        fprintf(stream, " %s", unit->text);
    else
        fprintf(stream, " %" PRIu64, unit->done);
}

void unit_pages_print(const struct overview_pool *pool, FILE *stream)
{
    for (uint32_t i = 0; i < pool->unit_count; i++) {
        fprintf(stream, "  %-16s", pool->units[i].unit);
        print_value(stream, &pool->units[i]);
        fputc('\n', stream);
    }
}

static void print_units(FILE *stream, const char *path, const struct pool_progress *units,
                        uint32_t count)
{
    fprintf(stream, "%s:", path);
    for (uint32_t i = 0; i < count; i++) {
        fprintf(stream, "%s %s", i > 0 ? "," : "", units[i].unit);
        print_value(stream, &units[i]);
    }
    fputc('\n', stream);
}

void unit_pages_print_all_locked(const struct overview *overview, FILE *stream)
{
    visit_sources_locked(overview, print_units, stream);
    visit_pools_locked(overview, print_units, stream);
}

/* --- metrics ---------------------------------------------------------------------------------- */

/* A text is no metric. */
static void write_units(FILE *stream, const char *metric, const char *label, const char *path,
                        const struct pool_progress *units, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!units[i].text)
            metric_lines_write(stream, metric, label, path, "unit", units[i].unit, units[i].done);
}

static void write_source(FILE *stream, const char *path, const struct pool_progress *units,
                         uint32_t count)
{
    write_units(stream, "weir_source_units", "source", path, units, count);
}

static void write_pool(FILE *stream, const char *path, const struct pool_progress *units,
                       uint32_t count)
{
    write_units(stream, "weir_pool_units", "pool", path, units, count);
}

void unit_pages_metrics_locked(const struct overview *overview, FILE *stream)
{
    metric_lines_begin(stream, "weir_source_units", "gauge",
                       "Progress that the plugin of a source reports, by unit.");
    visit_sources_locked(overview, write_source, stream);
    metric_lines_begin(stream, "weir_pool_units", "gauge",
                       "Progress that the plugin of a pool reports, by unit.");
    visit_pools_locked(overview, write_pool, stream);
}
