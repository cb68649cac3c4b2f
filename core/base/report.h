/* SPDX-License-Identifier: MIT */
/*
 * base/report.h - collects all mistakes of a file for people.
 *
 * The first REPORT_KEPT errors and warnings are kept, in the order in which they were found; the
 * rest is counted. All texts are copied, so a report outlives their owners. When memory is out an
 * entry is counted without its text: no mistake is lost.
 *
 * Life: report_init .. report_finish. Not synchronised.
 */
#ifndef BASE_REPORT_H
#define BASE_REPORT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/secrets.h"

#include <weir/host.h>

#define REPORT_KEPT 20      /* people do not read more than a screen of errors */
#define REPORT_ENOUGH 1000u /* the search for errors stops: a file of errors must not cost more */

/* A position in a text; lines and columns count from 1, 0 = unknown. Borrows the file's name. */
struct mark {
    const char *file; /* NULL = no position */
    uint32_t line;
    uint32_t column;
};

struct report_entry {
    const char *file; /* owned; NULL = no position */
    uint32_t line;
    uint32_t column;
    const char *path;   /* owned; such as `pools.images.size`; "" = none */
    const char *reason; /* owned; one sentence without full stop */
};

struct report_list {
    size_t kept;   /* entries below */
    size_t count;  /* all that were added */
    size_t closed; /* of those kept, from the first: their places are closed */
    struct report_entry entries[REPORT_KEPT];
};

struct report {
    struct report_list errors;
    struct report_list warnings;
    struct secrets secrets; /* hidden in the reasons */
};

void report_init(struct report *report);
/* Frees the entries; the report is empty then and may be used again. */
void report_finish(struct report *report);

/* Later reasons do not show this value: it came from a file. NULL is allowed. WEIR_ENOMEM. */
int report_hide(struct report *report, const char *value, size_t size);

/*
 * Adds an error. `mark` and `path` may be NULL. Line breaks and control characters in words of the
 * user are replaced by `?`, so that one error is one line. A NULL report swallows it.
 */
WEIR_PRINTF(4, 5)
void report_add(struct report *report, const struct mark *mark, const char *path,
                const char *format, ...);
/* As report_add, for text that is allowed but probably a mistake. */
WEIR_PRINTF(4, 5)
void report_warn(struct report *report, const struct mark *mark, const char *path,
                 const char *format, ...);

/*
 * Closes the positions of all errors so far. A later error at one of them is left out, since it is
 * a consequence: for example, a number that cannot be read because its `${VARIABLE}` is not set.
 * NULL is allowed.
 */
void report_close_places(struct report *report);

/* Errors, kept or not. */
size_t report_count(const struct report *report);
size_t report_warning_count(const struct report *report);

/* True when further errors are only counted: their text is not needed. NULL counts as full. */
bool report_is_full(const struct report *report);

/* True when the search for errors may stop. False for NULL, which may be the report of a copy. */
static inline bool report_has_enough(const struct report *report)
{
    return report && report->errors.count >= REPORT_ENOUGH;
}

/*
 * Writes one entry as `file:line:col: path: reason`, without the unknown parts, into `text`;
 * truncated at `size`. Returns the full length, as snprintf does.
 */
size_t report_format(const struct report_entry *entry, char *text, size_t size);

/* Prints the errors as lines, and the number of the others. */
void report_print(const struct report *report, FILE *stream);
/* Prints the warnings, each with `warning: ` before its reason. */
void report_print_warnings(const struct report *report, FILE *stream);

#endif
