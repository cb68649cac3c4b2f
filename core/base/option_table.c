/* SPDX-License-Identifier: MIT */
#include "base/option_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/option.h"
#include "base/option_kind.h"

struct table_check {
    const struct weir_option *table;
    size_t settings_size;
    char *why;
    size_t why_size;
};

WEIR_PRINTF(3, 4)
static int refuse(const struct table_check *check, const struct weir_option *row,
                  const char *format, ...)
{
    char reason[256];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    (void)snprintf(check->why, check->why_size, "option %s: %s", row->name, reason);
    return WEIR_EINVALID;
}

static size_t field_size(const struct weir_option *row)
{
    return option_kind(row->kind)->size;
}

static int check_field(const struct table_check *check, const struct weir_option *row)
{
    const struct option_kind *kind = option_kind(row->kind);

    if (!kind)
        return refuse(check, row, "%u is no kind of option", row->kind);
    if (row->offset > check->settings_size || check->settings_size - row->offset < kind->size)
        return refuse(check, row, "its field lies outside the %zu bytes of the settings",
                      check->settings_size);
    if (row->offset % kind->alignment != 0)
        return refuse(check, row, "its field at offset %u is not aligned", row->offset);
    return WEIR_OK;
}

static int check_against_earlier(const struct table_check *check, const struct weir_option *row)
{
    for (const struct weir_option *other = check->table; other < row; other++) {
        if (strcmp(other->name, row->name) == 0)
            return refuse(check, row, "stands twice in the table");
        if (row->offset < other->offset + field_size(other) &&
            other->offset < row->offset + field_size(row))
            return refuse(check, row, "its field overlaps that of %s", other->name);
    }
    return WEIR_OK;
}

static int check_bounds(const struct table_check *check, const struct weir_option *row)
{
    struct option_bounds bounds = option_bounds_of(row);
    struct option_bounds type = option_bounds_of_type(row);
    bool unbounded = row->kind == WEIR_BOOL || row->kind == WEIR_STRING || row->kind == WEIR_ENUM ||
                     row->kind == WEIR_POOL;

    if (!option_has_bounds(row))
        return WEIR_OK;
    if (unbounded)
        return refuse(check, row, "a %s has no bounds", option_kind_name(row->kind));
    if (option_number_less(bounds.max, bounds.min))
        return refuse(check, row, "its min is larger than its max");
    if (option_number_less(bounds.min, type.min) || option_number_less(type.max, bounds.max))
        return refuse(check, row, "its bounds do not fit a %s", option_kind_name(row->kind));
    return WEIR_OK;
}

static int check_choices(const struct table_check *check, const struct weir_option *row)
{
    if (row->kind == WEIR_ENUM && (!row->choices || !row->choices[0]))
        return refuse(check, row, "an enum needs choices");
    if (row->kind != WEIR_ENUM && row->kind != WEIR_LIST && row->choices)
        return refuse(check, row, "only an enum or a list has choices");
    if (row->kind != WEIR_MAP && row->pools)
        return refuse(check, row, "only a map has pools");
    if (row->kind != WEIR_STRING && row->state)
        return refuse(check, row, "only a string has state");
    return WEIR_OK;
}

/* Fills the default into a scratch struct. */
static int try_default(const struct table_check *check, const struct weir_option *row,
                       void *scratch)
{
    struct mark nowhere = { NULL, 0, 0 };
    struct text_store store;
    struct report report;
    int status;

    text_store_init(&store);
    report_init(&report);
    status = option_fill_fallback(row, &nowhere, "", &store, &report, scratch);
    if (status == WEIR_EINVALID)
        (void)refuse(check, row, "its default %s",
                     report.errors.kept ? report.errors.entries[0].reason : "is wrong");
    report_finish(&report);
    text_store_finish(&store);
    return status;
}

static int check_default(const struct table_check *check, const struct weir_option *row)
{
    void *scratch;
    int status;

    if (row->required && row->fallback)
        return refuse(check, row, "is required and has a default");
    if (row->kind == WEIR_MAP && row->fallback)
        return refuse(check, row, "a map has no default");
    if (!row->fallback)
        return WEIR_OK;
    scratch = calloc(1, check->settings_size);
    if (!scratch)
        return WEIR_ENOMEM;
    status = try_default(check, row, scratch);
    free(scratch);
    return status;
}

int options_check_table(const struct weir_option *table, size_t settings_size, char *why,
                        size_t why_size)
{
    struct table_check check = { table, settings_size, NULL, why_size };
    int status = WEIR_OK;

    check.why = why;
    for (const struct weir_option *row = table; row && row->name && status == WEIR_OK; row++) {
        status = check_field(&check, row);
        if (status == WEIR_OK)
            status = check_against_earlier(&check, row);
        if (status == WEIR_OK)
            status = check_choices(&check, row);
        if (status == WEIR_OK)
            status = check_bounds(&check, row);
        if (status == WEIR_OK)
            status = check_default(&check, row);
    }
    return status;
}
