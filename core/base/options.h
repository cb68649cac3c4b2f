/* SPDX-License-Identifier: MIT */
/*
 * base/options.h - fills a settings struct from named values, by a table of weir_option rows.
 *
 * The tables are in this build's layout and end with a NULL name. All mistakes go to a report, each
 * with its position; a value that does not fit is never wrapped or clamped. Secrets are never
 * printed.
 *
 * Not synchronised; a `struct options` never changes after options_parse and may be read by any
 * thread.
 */
#ifndef BASE_OPTIONS_H
#define BASE_OPTIONS_H

#include "base/option.h"
#include "base/option_kind.h"
#include "base/option_table.h"

/* --- a settings struct ------------------------------------------------------------------------ */

struct options;

/*
 * Fills a settings struct. A NULL table has no options. Reports all unknown, missing, repeated and
 * wrong values: WEIR_EINVALID. WEIR_ENOMEM. Returns owned. Borrows the table until options_destroy.
 */
int options_parse(const struct weir_option *table, size_t settings_size,
                  const struct option_value *values, size_t count, const struct option_place *place,
                  struct report *report, struct options **out_options);
/* NULL is allowed. */
void options_destroy(struct options *options);

/* The filled struct, aligned for any type; borrowed until options_destroy. */
const void *options_settings(const struct options *options);

/* The position of the option; that of the whole when the option is not set or unknown. */
struct mark options_mark(const struct options *options, const char *name);

/* The value as text, `(secret)` for a secret one; NULL when there is no such option. Borrowed. */
const char *options_text(const struct options *options, const char *name);

/* --- comparing -------------------------------------------------------------------------------- */

/* An option whose value differs. Texts are borrowed from the options; NULL = no such option. */
struct option_change {
    const char *name;
    const char *old_text;
    const char *new_text;
    bool live;
};

/* True when both have the same options with the same values. Either may be NULL: no options. */
bool options_equal(const struct options *left, const struct options *right);

/*
 * The changed options, in the order of the newer table. Returns their number and writes at most
 * `max` of them. Of the old options it compares only options that the new table lacks.
 */
size_t options_changes(const struct options *old_options, const struct options *new_options,
                       struct option_change *changes, size_t max);

/* True when there is a change and every changed option is `live`. */
bool options_changes_live(const struct options *old_options, const struct options *new_options);

#endif
