/* SPDX-License-Identifier: MIT */
#include "base/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_SIZE 512 /* of an option's path in a message; a longer one is truncated */

struct options {
    const struct weir_option *table; /* may be NULL */
    size_t count;                    /* rows */
    void *settings;                  /* in the store */
    const char **texts;              /* in the store: each row's value, secret or not */
    struct mark *marks;              /* in the store: where each was set */
    bool *secrets;                   /* in the store: true for values that are never shown */
    struct mark place;               /* the position of the whole */
    struct text_store store;
};

static size_t count_rows(const struct weir_option *table)
{
    size_t count = 0;

    while (table && table[count].name)
        count++;
    return count;
}

static size_t find_row(const struct options *options, const char *name)
{
    size_t index = 0;

    while (index < options->count && strcmp(options->table[index].name, name) != 0)
        index++;
    return index;
}

/* --- parsing ---------------------------------------------------------------------------------- */

struct parsing {
    struct options *options;
    const struct option_value *values;
    size_t count;
    const struct option_place *place;
    struct report *report;
    const struct option_value **given; /* per row: the value for it, NULL = none */
};

static void make_path(const struct parsing *parsing, const char *name, char *path)
{
    const char *before = parsing->place->path;

    (void)snprintf(path, PATH_SIZE, "%s%s%s", before, before[0] ? "." : "", name);
}

static int unknown_option(const struct parsing *parsing, const struct option_value *value)
{
    const struct options *options = parsing->options;
    char path[PATH_SIZE];
    struct text_guess guess;
    const char *best;

    text_guess_init(&guess, value->name);
    for (size_t i = 0; i < options->count && !report_is_full(parsing->report); i++)
        text_guess_offer(&guess, options->table[i].name);
    best = text_guess_best(&guess);
    make_path(parsing, value->name, path);
    report_add(parsing->report, &value->name_mark, path, "unknown option%s%s%s",
               best ? ", did you mean \"" : "", best ? best : "", best ? "\"?" : "");
    return WEIR_EINVALID;
}

static int repeated_option(const struct parsing *parsing, const struct option_value *value,
                           const struct option_value *first)
{
    char path[PATH_SIZE];

    make_path(parsing, value->name, path);
    report_add(parsing->report, &value->name_mark, path, "is set twice, first in line %u",
               first->name_mark.line);
    return WEIR_EINVALID;
}

/* Matches each value with its row. */
static int match_values(struct parsing *parsing)
{
    int status = WEIR_OK;

    for (size_t i = 0; i < parsing->count && !report_has_enough(parsing->report); i++) {
        const struct option_value *value = &parsing->values[i];
        size_t row = find_row(parsing->options, value->name);

        if (row == parsing->options->count)
            status = unknown_option(parsing, value);
        else if (parsing->given[row])
            status = repeated_option(parsing, value, parsing->given[row]);
        else
            parsing->given[row] = value;
    }
    return status;
}

static int fill_row(const struct parsing *parsing, size_t index)
{
    struct options *options = parsing->options;
    const struct weir_option *row = &options->table[index];
    const struct option_value *value = parsing->given[index];
    char path[PATH_SIZE];

    make_path(parsing, row->name, path);
    if (value)
        return option_fill(row, value, path, &options->store, parsing->report, options->settings);
    return option_fill_fallback(row, &parsing->place->mark, path, &options->store, parsing->report,
                                options->settings);
}

/* Goes on after a mistake in a row; only missing memory ends it at once. */
static int fill_rows(const struct parsing *parsing)
{
    int result = WEIR_OK;

    for (size_t i = 0; i < parsing->options->count; i++) {
        int status = fill_row(parsing, i);

        if (status == WEIR_ENOMEM)
            return status;
        if (status != WEIR_OK)
            result = status;
    }
    return result;
}

static bool keep_file(struct text_store *store, struct mark *mark)
{
    if (!mark->file)
        return true;
    mark->file = text_store_copy(store, mark->file);
    return mark->file != NULL;
}

/* A value is secret by its row, or when a part of the value came from a file of secrets. */
static bool is_secret(const struct weir_option *row, const struct option_value *value)
{
    bool secret = row->secret || (value && value->scalar.secret);

    for (size_t i = 0; value && i < value->count && !secret; i++)
        secret = value->items[i].secret;
    return secret;
}

static int describe_rows(const struct parsing *parsing)
{
    struct options *options = parsing->options;

    options->place = parsing->place->mark;
    if (!keep_file(&options->store, &options->place))
        return WEIR_ENOMEM;
    for (size_t i = 0; i < options->count; i++) {
        const struct option_value *value = parsing->given[i];

        options->secrets[i] = is_secret(&options->table[i], value);
        options->marks[i] = value ? value->mark : parsing->place->mark;
        if (value && !keep_file(&options->store, &options->marks[i]))
            return WEIR_ENOMEM;
        if (!value)
            options->marks[i].file = options->place.file;
        options->texts[i] = option_format(&options->table[i], options->settings, &options->store);
        if (!options->texts[i])
            return WEIR_ENOMEM;
    }
    return WEIR_OK;
}

static struct options *options_create(const struct weir_option *table, size_t settings_size)
{
    struct options *options = calloc(1, sizeof *options);

    if (!options)
        return NULL;
    text_store_init(&options->store);
    options->table = table;
    options->count = count_rows(table);
    options->settings = text_store_take(&options->store, settings_size);
    options->texts = text_store_take_array(&options->store, options->count, sizeof *options->texts);
    options->marks = text_store_take_array(&options->store, options->count, sizeof *options->marks);
    options->secrets = text_store_take_array(&options->store, options->count,
                                             sizeof *options->secrets);
    if (!options->settings || !options->texts || !options->marks || !options->secrets) {
        options_destroy(options);
        return NULL;
    }
    return options;
}

static int parse(struct parsing *parsing)
{
    int matched = match_values(parsing);
    int filled = fill_rows(parsing);

    if (filled == WEIR_ENOMEM)
        return filled;
    if (matched != WEIR_OK || filled != WEIR_OK)
        return WEIR_EINVALID;
    return describe_rows(parsing);
}

int options_parse(const struct weir_option *table, size_t settings_size,
                  const struct option_value *values, size_t count, const struct option_place *place,
                  struct report *report, struct options **out_options)
{
    struct parsing parsing = { NULL, values, count, place, report, NULL };
    int status = WEIR_ENOMEM;

    parsing.options = options_create(table, settings_size);
    if (!parsing.options)
        return status;
    parsing.given = calloc(parsing.options->count + 1, sizeof *parsing.given);
    if (parsing.given)
        status = parse(&parsing);
    free(parsing.given);
    if (status == WEIR_OK)
        *out_options = parsing.options;
    else
        options_destroy(parsing.options);
    return status;
}

void options_destroy(struct options *options)
{
    if (!options)
        return;
    text_store_finish(&options->store);
    free(options);
}

/* --- looking ---------------------------------------------------------------------------------- */

const void *options_settings(const struct options *options)
{
    return options->settings;
}

struct mark options_mark(const struct options *options, const char *name)
{
    size_t index = name ? find_row(options, name) : options->count;

    return index < options->count ? options->marks[index] : options->place;
}

static const char *shown_text(const struct options *options, size_t index)
{
    return options->secrets[index] ? "(secret)" : options->texts[index];
}

const char *options_text(const struct options *options, const char *name)
{
    size_t index = find_row(options, name);

    return index < options->count ? shown_text(options, index) : NULL;
}

/* --- comparing -------------------------------------------------------------------------------- */

struct change_list {
    struct option_change *changes;
    size_t max;
    size_t count;
};

static void note_change(struct change_list *list, const struct option_change *change)
{
    if (list->count < list->max)
        list->changes[list->count] = *change;
    list->count++;
}

static void note_newer(struct change_list *list, const struct options *older,
                       const struct options *newer, size_t index)
{
    const struct weir_option *row = &newer->table[index];
    size_t at = older ? find_row(older, row->name) : 0;
    bool known = older && at < older->count;

    if (known && strcmp(older->texts[at], newer->texts[index]) == 0)
        return;
    note_change(list, &(struct option_change){
                          .name = row->name,
                          .old_text = known ? shown_text(older, at) : NULL,
                          .new_text = shown_text(newer, index),
                          .live = known && row->live,
                      });
}

static void note_gone(struct change_list *list, const struct options *older,
                      const struct options *newer, size_t index)
{
    const char *name = older->table[index].name;

    if (newer && find_row(newer, name) < newer->count)
        return;
    note_change(list, &(struct option_change){ name, shown_text(older, index), NULL, false });
}

size_t options_changes(const struct options *old_options, const struct options *new_options,
                       struct option_change *changes, size_t max)
{
    struct change_list list = { changes, max, 0 };

    for (size_t i = 0; new_options && i < new_options->count; i++)
        note_newer(&list, old_options, new_options, i);
    for (size_t i = 0; old_options && i < old_options->count; i++)
        note_gone(&list, old_options, new_options, i);
    return list.count;
}

bool options_equal(const struct options *left, const struct options *right)
{
    return options_changes(left, right, NULL, 0) == 0;
}

bool options_changes_live(const struct options *old_options, const struct options *new_options)
{
    size_t rows = new_options ? new_options->count : 0;
    size_t changed = 0;

    for (size_t i = 0; i < rows; i++) {
        struct option_change change = { .live = true };
        struct change_list one = { &change, 1, 0 };

        note_newer(&one, old_options, new_options, i);
        if (!change.live)
            return false;
        changed += one.count;
    }
    return changed > 0 && changed == options_changes(old_options, new_options, NULL, 0);
}
