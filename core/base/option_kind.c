/* SPDX-License-Identifier: MIT */
#include "base/option_kind.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_SIZE 48 /* a number with unit or decimals */

#define KIND(name, type, wanted)                                                                   \
    {                                                                                              \
        name, sizeof(type), _Alignof(type), wanted                                                 \
    }

static const struct option_kind kinds[] = {
    [WEIR_BOOL] = KIND("bool", bool, "true or false"),
    [WEIR_U32] = KIND("u32", uint32_t, "an integer"),
    [WEIR_U64] = KIND("u64", uint64_t, "an integer"),
    [WEIR_I64] = KIND("i64", int64_t, "an integer"),
    [WEIR_F64] = KIND("f64", double, "a number"),
    [WEIR_SIZE] = KIND("size", uint64_t, "a size such as 4096 or 64KiB"),
    [WEIR_DURATION] = KIND("duration", uint64_t, "a duration such as 250ms or 10s"),
    [WEIR_STRING] = KIND("string", const char *, "a text"),
    [WEIR_ENUM] = KIND("enum", uint32_t, "a word"),
    [WEIR_LIST] = KIND("list", struct weir_list, "a list of texts"),
    [WEIR_MAP] = KIND("map", struct weir_map, "a map of texts"),
    [WEIR_POOL] = KIND("pool", const char *, "the path of a pool"),
};

const struct option_kind *option_kind(uint32_t kind)
{
    return kind < sizeof kinds / sizeof kinds[0] && kinds[kind].name ? &kinds[kind] : NULL;
}

const char *option_kind_name(uint32_t kind)
{
    const struct option_kind *found = option_kind(kind);

    return found ? found->name : NULL;
}

bool option_is_choice(const struct weir_option *row, const char *text)
{
    for (size_t i = 0; row->choices && row->choices[i]; i++) {
        if (strcmp(row->choices[i], text) == 0)
            return true;
    }
    return false;
}

/* --- bounds ----------------------------------------------------------------------------------- */

static struct option_number number_from(int64_t value)
{
    if (value >= 0)
        return (struct option_number){ false, (uint64_t)value };
    return (struct option_number){ true, (uint64_t)(-(value + 1)) + 1 };
}

bool option_number_less(struct option_number left, struct option_number right)
{
    if (left.negative != right.negative)
        return left.negative;
    return left.negative ? left.magnitude > right.magnitude : left.magnitude < right.magnitude;
}

bool option_has_bounds(const struct weir_option *row)
{
    return row->min != 0 || row->max != 0;
}

struct option_bounds option_bounds_of_type(const struct weir_option *row)
{
    if (row->kind == WEIR_U32)
        return (struct option_bounds){ { false, 0 }, { false, UINT32_MAX } };
    if (row->kind == WEIR_I64 || row->kind == WEIR_F64)
        return (struct option_bounds){ number_from(INT64_MIN), number_from(INT64_MAX) };
    return (struct option_bounds){ { false, 0 }, { false, UINT64_MAX } };
}

struct option_bounds option_bounds_of(const struct weir_option *row)
{
    if (!option_has_bounds(row))
        return option_bounds_of_type(row);
    return (struct option_bounds){ number_from(row->min), number_from(row->max) };
}

static void format_number(const struct weir_option *row, struct option_number number, char *text,
                          size_t size)
{
    if (row->kind == WEIR_SIZE && !number.negative)
        text_format_size(number.magnitude, text, size);
    else if (row->kind == WEIR_DURATION && !number.negative)
        text_format_duration(number.magnitude, text, size);
    else
        (void)snprintf(text, size, "%s%llu", number.negative ? "-" : "",
                       (unsigned long long)number.magnitude);
}

void option_bounds_format(const struct weir_option *row, char *text, size_t size)
{
    struct option_bounds bounds = option_bounds_of(row);
    char min[NUMBER_SIZE];
    char max[NUMBER_SIZE];

    format_number(row, bounds.min, min, sizeof min);
    format_number(row, bounds.max, max, sizeof max);
    if (option_has_bounds(row) && row->max == INT64_MAX)
        (void)snprintf(text, size, "at least %s", min);
    else
        (void)snprintf(text, size, "%s..%s", min, max);
}

void option_bounds_text(const struct weir_option *row, char *text, size_t size)
{
    if (option_has_bounds(row))
        option_bounds_format(row, text, size);
    else if (size)
        text[0] = '\0';
}

/* --- the value as text ------------------------------------------------------------------------ */

/* False for a text that needs quotes to be read back as the same value. */
static bool is_plain(const char *text)
{
    if (!text[0] || text[0] == '(' || text[0] == ' ' || text[strlen(text) - 1] == ' ')
        return false;
    for (const char *at = text; *at; at++) {
        unsigned char c = (unsigned char)*at;

        if (c < 0x20 || c == 0x7f || strchr("\"\\,:[]{}", *at))
            return false;
    }
    return true;
}

static void put_string(FILE *stream, const char *text)
{
    if (is_plain(text)) {
        (void)fputs(text, stream);
        return;
    }
    (void)fputc('"', stream);
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;

        if (c < 0x20 || c == 0x7f)
            (void)fprintf(stream, "\\x%02x", c);
        else if (c == '"' || c == '\\')
            (void)fprintf(stream, "\\%c", c);
        else
            (void)fputc(c, stream);
    }
    (void)fputc('"', stream);
}

static void put_list(FILE *stream, const struct weir_list *list)
{
    (void)fputc('[', stream);
    for (size_t i = 0; i < list->count; i++) {
        (void)fputs(i ? ", " : "", stream);
        put_string(stream, list->items[i]);
    }
    (void)fputc(']', stream);
}

static void put_map(FILE *stream, const struct weir_map *map)
{
    (void)fputc('{', stream);
    for (size_t i = 0; i < map->count; i++) {
        (void)fputs(i ? ", " : "", stream);
        put_string(stream, map->items[i].key);
        (void)fputs(": ", stream);
        put_string(stream, map->items[i].value);
    }
    (void)fputc('}', stream);
}

static struct option_number load_number(const struct weir_option *row, const void *field)
{
    uint32_t small = 0;
    int64_t whole = 0;
    uint64_t large = 0;

    if (row->kind == WEIR_U32) {
        memcpy(&small, field, sizeof small);
        return (struct option_number){ false, small };
    }
    if (row->kind == WEIR_I64) {
        memcpy(&whole, field, sizeof whole);
        return number_from(whole);
    }
    memcpy(&large, field, sizeof large);
    return (struct option_number){ false, large };
}

static void put_number(FILE *stream, const struct weir_option *row, const void *field)
{
    char text[NUMBER_SIZE];

    format_number(row, load_number(row, field), text, sizeof text);
    (void)fputs(text, stream);
}

static void put_choice(FILE *stream, const struct weir_option *row, const void *field)
{
    uint32_t index = 0;

    memcpy(&index, field, sizeof index);
    (void)fputs(row->choices[index], stream);
}

static void put_text(FILE *stream, const void *field)
{
    const char *text = NULL;

    memcpy(&text, field, sizeof text);
    if (text)
        put_string(stream, text);
    else
        (void)fputs("(none)", stream);
}

/* With the fewest digits that give the same number: 0.8, not 0.80000000000000004. */
static void put_real(FILE *stream, double real)
{
    char text[NUMBER_SIZE];

    for (int digits = 15; digits <= 17; digits++) {
        (void)snprintf(text, sizeof text, "%.*g", digits, real);
        if (strtod(text, NULL) == real)
            break;
    }
    (void)fputs(text, stream);
}

static void put_value(FILE *stream, const struct weir_option *row, const void *field)
{
    double real = 0;

    switch (row->kind) {
    case WEIR_BOOL:
        (void)fputs(*(const bool *)field ? "true" : "false", stream);
        break;
    case WEIR_F64:
        memcpy(&real, field, sizeof real);
        put_real(stream, real);
        break;
    case WEIR_STRING:
    case WEIR_POOL:
        put_text(stream, field);
        break;
    case WEIR_ENUM:
        put_choice(stream, row, field);
        break;
    case WEIR_LIST:
        put_list(stream, field);
        break;
    case WEIR_MAP:
        put_map(stream, field);
        break;
    default:
        put_number(stream, row, field);
        break;
    }
}

const char *option_format(const struct weir_option *row, const void *settings,
                          struct text_store *store)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    const char *kept = NULL;

    if (!stream)
        return NULL;
    put_value(stream, row, (const char *)settings + row->offset);
    if (fclose(stream) == 0)
        kept = text_store_copy_size(store, text, size);
    free(text);
    return kept;
}
