/* SPDX-License-Identifier: MIT */
#include "base/report.h"

#include <stdlib.h>
#include <string.h>

#include <weir/printable.h>

#define REASON_SIZE 768 /* a sentence with two long names in it */

void report_init(struct report *report)
{
    memset(report, 0, sizeof *report);
}

static void finish_list(struct report_list *list)
{
    for (size_t i = 0; i < list->kept; i++)
        free((void *)(uintptr_t)list->entries[i].reason);
    memset(list, 0, sizeof *list);
}

void report_finish(struct report *report)
{
    finish_list(&report->errors);
    finish_list(&report->warnings);
    secrets_finish(&report->secrets);
}

int report_hide(struct report *report, const char *value, size_t size)
{
    return report ? secrets_add(&report->secrets, value, size) : WEIR_OK;
}

static const char *put_text(char **at, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = memcpy(*at, text, size);

    /* Replaces control characters: a file's text must not send escape sequences to a terminal. */
    weir_printable_replace(copy, size - 1);
    *at += size;
    return copy;
}

/* Makes one allocation for the three texts of an entry; it begins with the reason. */
static int fill_entry(struct report_entry *entry, const struct mark *mark, const char *path,
                      const char *reason)
{
    const char *file = mark && mark->file ? mark->file : "";
    char *at = malloc(strlen(reason) + strlen(path) + strlen(file) + 3);

    if (!at)
        return WEIR_ENOMEM;
    entry->reason = put_text(&at, reason);
    entry->path = put_text(&at, path);
    if (file[0]) {
        entry->file = put_text(&at, file);
        entry->line = mark->line;
        entry->column = mark->column;
    }
    return WEIR_OK;
}

WEIR_PRINTF(5, 0)
static void add(struct report_list *list, const struct secrets *secrets, const struct mark *mark,
                const char *path, const char *format, va_list arguments)
{
    char reason[REASON_SIZE];

    list->count++;
    if (list->kept == REPORT_KEPT)
        return;
    (void)vsnprintf(reason, sizeof reason, format, arguments);
    (void)secrets_hide(secrets, reason, strlen(reason), sizeof reason);
    if (fill_entry(&list->entries[list->kept], mark, path ? path : "", reason) == WEIR_OK)
        list->kept++;
}

void report_close_places(struct report *report)
{
    if (report)
        report->errors.closed = report->errors.kept;
}

static bool is_closed(const struct report_list *list, const struct mark *mark)
{
    for (size_t i = 0; mark && mark->file && i < list->closed; i++) {
        const struct report_entry *entry = &list->entries[i];

        if (entry->line == mark->line && entry->column == mark->column && entry->file &&
            strcmp(entry->file, mark->file) == 0)
            return true;
    }
    return false;
}

void report_add(struct report *report, const struct mark *mark, const char *path,
                const char *format, ...)
{
    va_list arguments;

    if (!report || is_closed(&report->errors, mark))
        return;
    va_start(arguments, format);
    add(&report->errors, &report->secrets, mark, path, format, arguments);
    va_end(arguments);
}

void report_warn(struct report *report, const struct mark *mark, const char *path,
                 const char *format, ...)
{
    va_list arguments;

    if (!report)
        return;
    va_start(arguments, format);
    add(&report->warnings, &report->secrets, mark, path, format, arguments);
    va_end(arguments);
}

size_t report_count(const struct report *report)
{
    return report->errors.count;
}

size_t report_warning_count(const struct report *report)
{
    return report->warnings.count;
}

bool report_is_full(const struct report *report)
{
    return !report || report->errors.kept == REPORT_KEPT;
}

/* `file:line:col: path: `, without the unknown parts. */
static void place_text(const struct report_entry *entry, char *text, size_t size)
{
    const char *path = entry->path;
    const char *gap = path[0] ? ": " : "";

    if (!entry->file)
        (void)snprintf(text, size, "%s%s", path, gap);
    else if (entry->line == 0)
        (void)snprintf(text, size, "%s: %s%s", entry->file, path, gap);
    else if (entry->column == 0)
        (void)snprintf(text, size, "%s:%u: %s%s", entry->file, entry->line, path, gap);
    else
        (void)snprintf(text, size, "%s:%u:%u: %s%s", entry->file, entry->line, entry->column, path,
                       gap);
}

size_t report_format(const struct report_entry *entry, char *text, size_t size)
{
    char place[2048]; /* a longer path is truncated; the reason is not */
    int length;

    place_text(entry, place, sizeof place);
    length = snprintf(text, size, "%s%s", place, entry->reason);
    return length < 0 ? 0 : (size_t)length;
}

static void print_list(const struct report_list *list, const char *word, FILE *stream)
{
    char place[2048];

    for (size_t i = 0; i < list->kept; i++) {
        place_text(&list->entries[i], place, sizeof place);
        (void)fprintf(stream, "%s%s%s\n", place, word, list->entries[i].reason);
    }
    if (list->count > list->kept)
        (void)fprintf(stream, "%s... and %zu more\n", word, list->count - list->kept);
}

void report_print(const struct report *report, FILE *stream)
{
    print_list(&report->errors, "", stream);
}

void report_print_warnings(const struct report *report, FILE *stream)
{
    print_list(&report->warnings, "warning: ", stream);
}
