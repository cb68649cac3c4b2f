/* SPDX-License-Identifier: MIT */
#include "config/fill.h"

#include <stdio.h>
#include <string.h>

#include "config/bound.h"
#include "config/capacity.h"
#include "config/rate_value.h"

#include <weir/printable.h>

#define PATH_SIZE 512  /* of a key's path in a message; a longer one is truncated */
#define ROWS_MAX 32    /* more than any table has */
#define LISTED_MAX 4   /* a table with more keys is too long for a message */
#define KNOWN_SIZE 96  /* of a list of keys in a message */
#define SECTIONS_MAX 3 /* levels of sections in the tables themselves */

/* --- values ----------------------------------------------------------------------------------- */

static struct option_text text_of(const struct config_node *node)
{
    return (struct option_text){ node->text, node->mark, node->secret };
}

static bool all_texts(const struct config_node *node)
{
    for (uint32_t i = 0; i < node->count; i++) {
        if (node->pairs[i].value->kind != CONFIG_SCALAR || node->pairs[i].value->null)
            return false;
    }
    return true;
}

static int value_of_items(const struct config_node *node, struct text_store *store,
                          struct option_value *out)
{
    bool is_map = node->kind == CONFIG_MAP;
    struct option_text *items = text_store_take_array(store, node->count, sizeof *items);
    struct option_text *keys = is_map ? text_store_take_array(store, node->count, sizeof *keys)
                                      : NULL;

    if (!items || (is_map && !keys))
        return WEIR_ENOMEM;
    for (uint32_t i = 0; i < node->count; i++) {
        items[i] = text_of(node->pairs[i].value);
        if (is_map)
            keys[i] = text_of(node->pairs[i].key);
    }
    out->shape = is_map ? OPTION_MAP : OPTION_LIST;
    out->keys = keys;
    out->items = items;
    out->count = node->count;
    return WEIR_OK;
}

static int value_of(const struct config_pair *pair, struct text_store *store,
                    struct option_value *out)
{
    const struct config_node *node = pair->value;

    *out = (struct option_value){
        .name = pair->key->text,
        .name_mark = pair->key->mark,
        .mark = node->mark,
        .scalar = { "", node->mark, node->secret },
    };
    if (node->kind != CONFIG_SCALAR) {
        out->shape = OPTION_NESTED;
        return all_texts(node) ? value_of_items(node, store, out) : WEIR_OK;
    }
    out->shape = node->null ? OPTION_NONE : OPTION_SCALAR;
    out->scalar = text_of(node);
    return WEIR_OK;
}

int fill_values(const struct config_node *map, struct text_store *store,
                struct option_value **out_values, size_t *out_count)
{
    struct option_value *values = NULL;
    int status = WEIR_OK;

    *out_values = NULL;
    *out_count = 0;
    if (!map || map->count == 0)
        return WEIR_OK;
    values = text_store_take_array(store, map->count, sizeof *values);
    if (!values)
        return WEIR_ENOMEM;
    for (uint32_t i = 0; i < map->count && status == WEIR_OK; i++)
        status = value_of(&map->pairs[i], store, &values[i]);
    if (status != WEIR_OK)
        return status;
    *out_values = values;
    *out_count = map->count;
    return WEIR_OK;
}

/* --- sections --------------------------------------------------------------------------------- */

/* Truncates at PATH_SIZE. Does not use printf, since it runs for every key of every pool. */
static void key_path(const char *path, const char *key, char *out)
{
    size_t length = strnlen(path, PATH_SIZE - 2);
    size_t rest = strnlen(key, PATH_SIZE - 2 - length);

    memcpy(out, path, length);
    if (length)
        out[length++] = '.';
    memcpy(out + length, key, rest);
    out[length + rest] = '\0';
}

static bool is_map(const struct config_node *node)
{
    return !node || node->kind == CONFIG_MAP || (node->kind == CONFIG_SCALAR && node->null);
}

int fill_expect_map(const struct fill *fill, const struct config_node *node, const char *path)
{
    char text[96];

    if (is_map(node))
        return WEIR_OK;
    report_add(fill->report, &node->mark, path, "must be a map of keys, got %s",
               config_describe(node, text, sizeof text));
    return WEIR_EINVALID;
}

/* As fill_expect_map, for a section: its first key is the example. */
static int expect_section(const struct fill *fill, const struct language_row *rows,
                          const struct config_node *node, const char *path)
{
    char text[96];

    if (is_map(node) || !rows->option.fallback)
        return fill_expect_map(fill, node, path);
    report_add(fill->report, &node->mark, path, "must be a map such as {%s: %s}, got %s",
               rows->option.name, rows->option.fallback, config_describe(node, text, sizeof text));
    return WEIR_EINVALID;
}

static bool is_name_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

int fill_check_name(const struct fill *fill, const struct config_node *key, const char *path)
{
    size_t length = strlen(key->text);
    bool valid = length > 0 && length <= 63 && is_name_letter(key->text[0]);

    for (size_t i = 0; valid && i < length; i++)
        valid = is_name_letter(key->text[i]) || key->text[i] == '_' || key->text[i] == '-';
    if (valid)
        return WEIR_OK;
    report_add(fill->report, &key->mark, path,
               "a name is 1..63 letters, digits, _ and -, and begins with a letter or digit");
    return WEIR_EINVALID;
}

/* The keys of a small section; empty for others. */
static void list_keys(const struct language_row *rows, uint32_t scope, char *text, size_t size)
{
    size_t length = 0;
    uint32_t count = 0;

    text[0] = '\0';
    for (; rows->option.name && count <= LISTED_MAX; rows++) {
        if (!language_is_in(rows, scope) || length >= size)
            continue;
        length += (size_t)snprintf(text + length, size - length, "%s%s",
                                   count++ ? ", " : "; known are ", rows->option.name);
    }
    if (count > LISTED_MAX)
        text[0] = '\0';
}

static int unknown_key(const struct fill *fill, const struct language_row *rows, uint32_t scope,
                       const struct config_node *key, const char *path)
{
    const struct language_row *row = rows;
    struct text_guess guess;
    char known[KNOWN_SIZE];
    const char *best;

    text_guess_init(&guess, key->text);
    for (; row->option.name && !report_is_full(fill->report); row++) {
        if (language_is_in(row, scope))
            text_guess_offer(&guess, row->option.name);
    }
    best = text_guess_best(&guess);
    list_keys(rows, scope, known, sizeof known);
    if (!best && strcmp(key->text, "rate") == 0)
        report_add(fill->report, &key->mark, path,
                   "unknown key here; a source has a `rate`, and so has an output: write "
                   "`outputs: {NAME: {to: POOL, rate: ...}}` in the pool that sends");
    else if (best)
        report_add(fill->report, &key->mark, path, "unknown key, did you mean \"%s\"?", best);
    else
        report_add(fill->report, &key->mark, path, "unknown key%s", known);
    return WEIR_EINVALID;
}

static int misplaced_key(const struct fill *fill, const struct language_row *row,
                         const struct config_node *key, const char *path)
{
    if (row->scope == LANGUAGE_OF_WORKERS)
        report_add(fill->report, &key->mark, path,
                   "belongs to a pool of workers: set it in the members");
    else
        report_add(fill->report, &key->mark, path, "belongs to a pool of pools");
    return WEIR_EINVALID;
}

static bool is_free_key(const struct language_row *rows, const char *key)
{
    return rows == language_top && strncmp(key, "x-", 2) == 0;
}

/* Gives each pair to its row. */
static int match_pairs(const struct fill *fill, const struct language_row *rows, uint32_t scope,
                       const struct config_node *map, const char *path,
                       const struct config_pair **given)
{
    int result = WEIR_OK;

    for (uint32_t i = 0; i < map->count && !report_has_enough(fill->report); i++) {
        const struct config_pair *pair = &map->pairs[i];
        const struct language_row *row = language_find_in(rows, scope, pair->key->text);
        char here[PATH_SIZE];

        key_path(path, pair->key->text, here);
        if (row && language_is_in(row, scope))
            given[row - rows] = pair;
        else if (row)
            result = misplaced_key(fill, row, pair->key, here);
        else if (!is_free_key(rows, pair->key->text))
            result = unknown_key(fill, rows, scope, pair->key, here);
    }
    return result;
}

/* Checks the encoding of a text of the language: it is printed in the status, logs and plans. */
static int check_text(const struct fill *fill, const struct option_text *text, const char *path)
{
    size_t left = strlen(text->text);
    const char *at = text->text;
    const char *problem = text->secret ? "is shown, and cannot come from ${file:...}" : NULL;

    while (!problem && left > 0) {
        size_t length = weir_printable(at, left);

        problem = length ? NULL : "has a character that a terminal would obey";
        at += length;
        left -= length;
    }
    if (!problem)
        return WEIR_OK;
    report_add(fill->report, &text->mark, path, "%s", problem);
    return WEIR_EINVALID;
}

static int fill_value(const struct fill *fill, const struct language_row *row,
                      const struct config_pair *pair, const struct mark *place, const char *path,
                      void *out)
{
    struct option_value value;
    int status;

    if (!pair)
        return option_fill_fallback(&row->option, place, path, fill->store, fill->report, out);
    status = value_of(pair, fill->store, &value);
    if (status != WEIR_OK)
        return status;
    status = option_fill(&row->option, &value, path, fill->store, fill->report, out);
    return status == WEIR_OK && row->option.kind == WEIR_STRING
               ? check_text(fill, &value.scalar, path)
               : status;
}

static const char range_wanted[] = "must be a range of durations such as 100ms..10s";

/* `a..b`, or one duration for both bounds. */
static bool parse_range(const char *text, uint64_t *out)
{
    const char *dots = strstr(text, "..");
    size_t length = dots ? (size_t)(dots - text) : strlen(text);
    char first[48];

    if (length >= sizeof first)
        return false;
    memcpy(first, text, length);
    first[length] = '\0';
    return text_parse_duration(first, &out[0]) == TEXT_OK &&
           text_parse_duration(dots ? dots + 2 : first, &out[1]) == TEXT_OK;
}

static int fill_range(const struct fill *fill, const struct language_row *row,
                      const struct config_pair *pair, const char *path, void *out)
{
    const struct config_node *node = pair ? pair->value : NULL;
    const char *text = node ? node->text : row->option.fallback;
    uint64_t range[2];
    char got[96];

    if (!node && !text)
        return WEIR_OK;
    if ((node && (node->kind != CONFIG_SCALAR || node->null)) || !parse_range(text, range)) {
        report_add(fill->report, &node->mark, path, "%s, got %s", range_wanted,
                   config_describe(node, got, sizeof got));
        return WEIR_EINVALID;
    }
    if (range[0] > range[1] || range[0] < (uint64_t)row->option.min ||
        range[1] > (uint64_t)row->option.max) {
        report_add(fill->report, &node->mark, path, "must rise within 1ms..1h, got %s",
                   config_describe(node, got, sizeof got));
        return WEIR_EINVALID;
    }
    memcpy((char *)out + row->option.offset, range, sizeof range);
    return WEIR_OK;
}

/* The struct of a section lies inside its owner's; `log` of a pool has none, so offset 0. */
static int fill_inner(const struct fill *fill, const struct language_row *row,
                      const struct config_pair *pair, const struct mark *place, const char *path,
                      void *out, uint32_t levels);

/* Without the key there is no rate: zeros. */
static int fill_rate(const struct fill *fill, const struct language_row *row,
                     const struct config_pair *pair, const char *path, void *out, uint32_t levels)
{
    struct rate *rate = (struct rate *)(void *)((char *)out + row->option.offset);
    int status;

    if (!pair)
        return WEIR_OK;
    if (pair->value->kind == CONFIG_MAP)
        status = fill_inner(fill, row, pair, &pair->value->mark, path, out, levels);
    else
        status = rate_value_read(pair->value, path, fill->report, rate);
    if (status == WEIR_OK)
        rate_value_complete(rate);
    return status;
}

static int fill_row(const struct fill *fill, const struct language_row *row,
                    const struct config_pair *pair, const struct mark *place, const char *path,
                    void *out, uint32_t levels)
{
    char here[PATH_SIZE];

    key_path(path, row->option.name, here);
    if (language_is_value(row))
        return fill_value(fill, row, pair, place, here, out);
    if (row->option.kind == LANGUAGE_RANGE)
        return fill_range(fill, row, pair, here, out);
    if (row->option.kind == LANGUAGE_CAPACITY)
        return capacity_fill(&row->option, pair ? pair->value : NULL, here, fill->report, out);
    if (row->option.kind == LANGUAGE_BOUND)
        return bound_fill(&row->option, pair ? pair->value : NULL, here, fill->report, out);
    if (row->option.kind == LANGUAGE_RATE)
        return fill_rate(fill, row, pair, here, out, levels);
    if (row->option.kind == LANGUAGE_SECTION)
        return fill_inner(fill, row, pair, place, here, out, levels);
    if (row->option.required && !pair) {
        report_add(fill->report, place, here, "is required");
        return WEIR_EINVALID;
    }
    return WEIR_OK;
}

static int fill_rows(const struct fill *fill, const struct language_row *rows, uint32_t scope,
                     const struct config_node *map, const struct mark *place, const char *path,
                     void *out, uint32_t levels)
{
    const struct config_pair *given[ROWS_MAX] = { NULL };
    int result = expect_section(fill, rows, map, path);

    if (result != WEIR_OK)
        return result;
    if (map && map->kind == CONFIG_MAP)
        result = match_pairs(fill, rows, scope, map, path, given);
    for (size_t i = 0; rows[i].option.name && result != WEIR_ENOMEM; i++) {
        int status = WEIR_OK;

        if (language_is_in(&rows[i], scope))
            status = fill_row(fill, &rows[i], given[i], place, path, out, levels);
        if (status != WEIR_OK)
            result = status;
    }
    return result;
}

static int fill_inner(const struct fill *fill, const struct language_row *row,
                      const struct config_pair *pair, const struct mark *place, const char *path,
                      void *out, uint32_t levels)
{
    if (levels == 0)
        return WEIR_OK;
    return fill_rows(fill, row->rows, 0, pair ? pair->value : NULL, place, path,
                     (char *)out + row->option.offset, levels - 1);
}

int fill_section(const struct fill *fill, const struct language_row *rows, uint32_t scope,
                 const struct config_node *map, const struct mark *place, const char *path,
                 void *out)
{
    return fill_rows(fill, rows, scope, map, place, path, out, SECTIONS_MAX);
}
