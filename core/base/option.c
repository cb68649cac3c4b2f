/* SPDX-License-Identifier: MIT */
#include "base/option.h"

#include <stdio.h>
#include <string.h>

#include "base/option_kind.h"

#define NUMBER_SIZE 48   /* a number with unit or decimals */
#define GOT_SIZE 96      /* a wrong value in a message; truncated */
#define CHOICES_SIZE 256 /* the choices of an enum in a message; truncated */

static void *field_of(const struct weir_option *row, void *settings)
{
    return (char *)settings + row->offset;
}

/* --- one value -------------------------------------------------------------------------------- */

/* One value that is being filled into its field. */
struct filling {
    const struct weir_option *row;
    const struct option_value *value;
    const char *path;
    struct text_store *store;
    struct report *report;
    void *field;
};

/* The value as it was written, in quotes, for the end of a message. */
static const char *got(const struct filling *filling, char *text, size_t size)
{
    const struct option_value *value = filling->value;

    if (value->shape == OPTION_LIST)
        (void)snprintf(text, size, "a list");
    else if (value->shape == OPTION_MAP)
        (void)snprintf(text, size, "a map");
    else if (value->shape == OPTION_NESTED)
        (void)snprintf(text, size, "a value that is no text: quote it, as \"{}\"");
    else if (filling->row->secret || value->scalar.secret)
        (void)snprintf(text, size, "a secret");
    else
        (void)snprintf(text, size, "\"%.64s\"", value->scalar.text);
    return text;
}

static int wrong_kind(const struct filling *filling)
{
    char text[GOT_SIZE];

    if (filling->value->shape == OPTION_NONE)
        report_add(filling->report, &filling->value->mark, filling->path,
                   "has no value, must be %s", option_kind(filling->row->kind)->wanted);
    else
        report_add(filling->report, &filling->value->mark, filling->path, "must be %s, got %s",
                   option_kind(filling->row->kind)->wanted, got(filling, text, sizeof text));
    return WEIR_EINVALID;
}

/* `too_large`: the value does not fit into an integer, so the lower bound is left out. */
static int out_of_bounds(const struct filling *filling, bool too_large)
{
    char bounds[2 * NUMBER_SIZE];
    bool secret = filling->row->secret || filling->value->scalar.secret;

    if (too_large && filling->row->max == INT64_MAX)
        (void)snprintf(bounds, sizeof bounds, "smaller");
    else
        option_bounds_format(filling->row, bounds, sizeof bounds);
    report_add(filling->report, &filling->value->mark, filling->path, "must be %s, got %.64s",
               bounds, secret ? "a secret" : filling->value->scalar.text);
    return WEIR_EINVALID;
}

static enum text_verdict parse_integer(const char *text, struct option_number *out)
{
    uint64_t magnitude = 0;
    enum text_verdict verdict = text_parse_u64(text + (text[0] == '-'), &magnitude);

    *out = (struct option_number){ text[0] == '-' && magnitude, magnitude };
    return verdict;
}

static enum text_verdict parse_number(const struct weir_option *row, const char *text,
                                      struct option_number *out)
{
    out->negative = false;
    if (row->kind == WEIR_SIZE)
        return text_parse_size(text, &out->magnitude);
    if (row->kind == WEIR_DURATION)
        return text_parse_duration(text, &out->magnitude);
    return parse_integer(text, out);
}

static void store_number(const struct weir_option *row, struct option_number number, void *field)
{
    uint32_t small = (uint32_t)number.magnitude;
    int64_t whole = (int64_t)number.magnitude;

    if (number.negative)
        whole = -(int64_t)(number.magnitude - 1) - 1;
    if (row->kind == WEIR_U32)
        memcpy(field, &small, sizeof small);
    else if (row->kind == WEIR_I64)
        memcpy(field, &whole, sizeof whole);
    else
        memcpy(field, &number.magnitude, sizeof number.magnitude);
}

static int no_unit(const struct filling *filling)
{
    bool secret = filling->row->secret || filling->value->scalar.secret;

    report_add(filling->report, &filling->value->mark, filling->path,
               "a duration needs a unit (ms, s, m, h, d), got %.64s",
               secret ? "a secret" : filling->value->scalar.text);
    return WEIR_EINVALID;
}

static int fill_number(const struct filling *filling)
{
    struct option_bounds bounds = option_bounds_of(filling->row);
    struct option_number number = { false, 0 };

    if (filling->value->shape != OPTION_SCALAR)
        return wrong_kind(filling);
    switch (parse_number(filling->row, filling->value->scalar.text, &number)) {
    case TEXT_OK:
        break;
    case TEXT_TOO_LARGE:
        return out_of_bounds(filling, true);
    case TEXT_NO_UNIT:
        return no_unit(filling);
    default:
        return wrong_kind(filling);
    }
    if (option_number_less(number, bounds.min) || option_number_less(bounds.max, number))
        return out_of_bounds(filling, false);
    store_number(filling->row, number, filling->field);
    return WEIR_OK;
}

static int fill_f64(const struct filling *filling)
{
    const struct weir_option *row = filling->row;
    double value = 0;

    if (filling->value->shape != OPTION_SCALAR)
        return wrong_kind(filling);
    switch (text_parse_f64(filling->value->scalar.text, &value)) {
    case TEXT_OK:
        break;
    case TEXT_TOO_LARGE:
        report_add(filling->report, &filling->value->mark, filling->path,
                   "is larger than a number can be");
        return WEIR_EINVALID;
    default:
        return wrong_kind(filling);
    }
    if (option_has_bounds(row) && (value < (double)row->min || value > (double)row->max))
        return out_of_bounds(filling, false);
    memcpy(filling->field, &value, sizeof value);
    return WEIR_OK;
}

static int fill_bool(const struct filling *filling)
{
    if (filling->value->shape != OPTION_SCALAR ||
        text_parse_bool(filling->value->scalar.text, filling->field) != TEXT_OK)
        return wrong_kind(filling);
    return WEIR_OK;
}

static int fill_string(const struct filling *filling)
{
    const char *copy;

    if (filling->value->shape != OPTION_SCALAR)
        return wrong_kind(filling);
    copy = text_store_copy(filling->store, filling->value->scalar.text);
    if (!copy)
        return WEIR_ENOMEM;
    memcpy(filling->field, &copy, sizeof copy);
    return WEIR_OK;
}

/* `a, b, c`, as many as fit. */
static void format_choices(const struct weir_option *row, char *text, size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; row->choices[i] && used < size; i++) {
        int length = snprintf(text + used, size - used, "%s%s", i ? ", " : "", row->choices[i]);

        used += length < 0 ? 0 : (size_t)length;
    }
}

static int unknown_choice(const struct filling *filling)
{
    const struct weir_option *row = filling->row;
    char choices[CHOICES_SIZE];
    char text[GOT_SIZE];
    struct text_guess guess;
    const char *best = NULL;

    if (filling->value->shape == OPTION_SCALAR && !row->secret && !filling->value->scalar.secret &&
        !report_is_full(filling->report)) {
        text_guess_init(&guess, filling->value->scalar.text);
        for (size_t i = 0; row->choices[i]; i++)
            text_guess_offer(&guess, row->choices[i]);
        best = text_guess_best(&guess);
    }
    format_choices(row, choices, sizeof choices);
    report_add(filling->report, &filling->value->mark, filling->path,
               "must be %sone of %s; got %s%s%s%s",
               row->kind == WEIR_LIST ? "a list of texts, or " : "", choices,
               filling->value->shape == OPTION_NONE ? "nothing" : got(filling, text, sizeof text),
               best ? ", did you mean \"" : "", best ? best : "", best ? "\"?" : "");
    return WEIR_EINVALID;
}

static int fill_enum(const struct filling *filling)
{
    const char *const *choices = filling->row->choices;

    if (filling->value->shape != OPTION_SCALAR)
        return unknown_choice(filling);
    for (uint32_t i = 0; choices[i]; i++) {
        if (strcmp(choices[i], filling->value->scalar.text) == 0) {
            memcpy(filling->field, &i, sizeof i);
            return WEIR_OK;
        }
    }
    return unknown_choice(filling);
}

static int check_count(const struct filling *filling)
{
    const struct weir_option *row = filling->row;
    size_t count = filling->value->count;
    char bounds[2 * NUMBER_SIZE];

    if (!option_has_bounds(row) ||
        ((row->min <= 0 || count >= (uint64_t)row->min) && count <= (uint64_t)row->max))
        return WEIR_OK;
    option_bounds_format(row, bounds, sizeof bounds);
    report_add(filling->report, &filling->value->mark, filling->path, "must have %s %s, got %zu",
               bounds, row->min == 1 && row->max == INT64_MAX ? "item" : "items", count);
    return WEIR_EINVALID;
}

static int store_list(const struct filling *filling, const struct option_text *texts, size_t count)
{
    struct weir_list list = { NULL, count };
    const char **items = text_store_take_array(filling->store, count, sizeof *items);

    if (!items)
        return WEIR_ENOMEM;
    for (size_t i = 0; i < count; i++) {
        items[i] = text_store_copy(filling->store, texts[i].text);
        if (!items[i])
            return WEIR_ENOMEM;
    }
    list.items = items;
    memcpy(filling->field, &list, sizeof list);
    return WEIR_OK;
}

/* A word that stands alone is the only text of the list; bounds are those of a list that is
 * written. */
static int fill_list(const struct filling *filling)
{
    const struct option_value *value = filling->value;

    if (value->shape == OPTION_SCALAR && option_is_choice(filling->row, value->scalar.text))
        return store_list(filling, &value->scalar, 1);
    if (value->shape != OPTION_LIST)
        return filling->row->choices ? unknown_choice(filling) : wrong_kind(filling);
    if (check_count(filling) != WEIR_OK)
        return WEIR_EINVALID;
    return store_list(filling, value->items, value->count);
}

static int fill_map(const struct filling *filling)
{
    const struct option_value *value = filling->value;
    struct weir_map map = { NULL, value->count };
    struct weir_pair *items;

    if (value->shape != OPTION_MAP)
        return wrong_kind(filling);
    if (check_count(filling) != WEIR_OK)
        return WEIR_EINVALID;
    items = text_store_take_array(filling->store, value->count, sizeof *items);
    if (!items)
        return WEIR_ENOMEM;
    for (size_t i = 0; i < value->count; i++) {
        items[i].key = text_store_copy(filling->store, value->keys[i].text);
        items[i].value = text_store_copy(filling->store, value->items[i].text);
        if (!items[i].key || !items[i].value)
            return WEIR_ENOMEM;
    }
    map.items = items;
    memcpy(filling->field, &map, sizeof map);
    return WEIR_OK;
}

int option_fill(const struct weir_option *row, const struct option_value *value, const char *path,
                struct text_store *store, struct report *report, void *settings)
{
    struct filling filling = { row, value, path, store, report, field_of(row, settings) };

    switch (row->kind) {
    case WEIR_BOOL:
        return fill_bool(&filling);
    case WEIR_F64:
        return fill_f64(&filling);
    case WEIR_STRING:
    case WEIR_POOL:
        return fill_string(&filling);
    case WEIR_ENUM:
        return fill_enum(&filling);
    case WEIR_LIST:
        return fill_list(&filling);
    case WEIR_MAP:
        return fill_map(&filling);
    default:
        return fill_number(&filling);
    }
}

/* --- defaults --------------------------------------------------------------------------------- */

/* Splits the default of a list at its commas. Fills `items`, which has room for all. */
static int split_items(const char *text, struct text_store *store, struct option_text *items,
                       size_t *out_count)
{
    size_t count = 0;

    while (*text) {
        const char *start = text + strspn(text, " ");
        size_t length = strcspn(start, ",");
        size_t trimmed = length;

        while (trimmed && start[trimmed - 1] == ' ')
            trimmed--;
        items[count].text = text_store_copy_size(store, start, trimmed);
        if (!items[count].text)
            return WEIR_ENOMEM;
        count++;
        text = start + length + (start[length] == ',');
    }
    *out_count = count;
    return WEIR_OK;
}

static int fill_default_list(const struct weir_option *row, struct option_value *value,
                             const char *path, struct text_store *store, struct report *report,
                             void *settings)
{
    size_t room = strlen(row->fallback) + 1; /* there is at most one item for each character */
    struct option_text *items = text_store_take_array(store, room, sizeof *items);

    if (!items || split_items(row->fallback, store, items, &value->count) != WEIR_OK)
        return WEIR_ENOMEM;
    value->shape = OPTION_LIST;
    value->items = items;
    return option_fill(row, value, path, store, report, settings);
}

int option_fill_fallback(const struct weir_option *row, const struct mark *mark, const char *path,
                         struct text_store *store, struct report *report, void *settings)
{
    struct option_value value = { .name = row->name, .name_mark = *mark, .mark = *mark };

    if (row->required) {
        report_add(report, mark, path, "is required");
        return WEIR_EINVALID;
    }
    if (!row->fallback)
        return WEIR_OK;
    if (row->kind == WEIR_LIST && !option_is_choice(row, row->fallback))
        return fill_default_list(row, &value, path, store, report, settings);
    value.shape = OPTION_SCALAR;
    value.scalar = (struct option_text){ row->fallback, *mark, false };
    return option_fill(row, &value, path, store, report, settings);
}
