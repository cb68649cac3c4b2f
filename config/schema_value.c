/* SPDX-License-Identifier: MIT */
#include "config/schema_value.h"

#include <stdio.h>
#include <string.h>

#include "base/option_kind.h"

#define VARIABLE "\\$\\{" /* anywhere in the text: its value is not known here */
#define DIGITS "(0|[1-9][0-9]*)"
#define DURATION "(0|" DIGITS "(ms|s|m|h|d))"

#define INTEGER_TEXT "integer_text"
#define NUMBER_TEXT "number_text"
#define BOOL_TEXT "bool_text"
#define SIZE_TEXT "size"
#define DURATION_TEXT "duration"

struct definition {
    const char *name;
    const char *description;
    const char *pattern;
};

/* The grammar of base/text.h. */
static const struct definition definitions[] = {
    { SCHEMA_VARIABLE, "${NAME}, ${NAME:-default} or ${file:/path}", VARIABLE },
    { INTEGER_TEXT, "an integer in quotes, or from a variable", "^-?" DIGITS "$|" VARIABLE },
    { NUMBER_TEXT, "a number in quotes, or from a variable",
      "^-?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][-+]?[0-9]+)?$|" VARIABLE },
    { BOOL_TEXT, "true or false in quotes, or from a variable", "^(true|false)$|" VARIABLE },
    { SIZE_TEXT, "a size such as 4096 or 64KiB", "^" DIGITS "(B|KiB|MiB|GiB|TiB)?$|" VARIABLE },
    { DURATION_TEXT, "a duration such as 250ms or 10s", "^" DURATION "$|" VARIABLE },
    { SCHEMA_DURATIONS, "a range of durations such as 100ms..10s",
      "^" DURATION "(\\.\\." DURATION ")?$|" VARIABLE },
    { SCHEMA_RATE, "messages in a time, such as 100/s or 5/250ms",
      "^[1-9][0-9]*/([1-9][0-9]*)?(ms|s|m|h|d)$|" VARIABLE },
    { SCHEMA_BEHAVIOUR, "plugin.behaviour", "\\.|" VARIABLE },
};

#define DEFINITION_COUNT (sizeof definitions / sizeof definitions[0])

static void define_text(struct json *json)
{
    json_begin_object(json, SCHEMA_TEXT);
    json_begin_array(json, "type");
    json_text(json, NULL, "string");
    json_text(json, NULL, "number");
    json_text(json, NULL, "boolean");
    json_end(json);
    json_end(json);
}

void schema_value_definitions(struct json *json)
{
    define_text(json);
    for (size_t i = 0; i < DEFINITION_COUNT; i++) {
        json_begin_object(json, definitions[i].name);
        json_text(json, "description", definitions[i].description);
        json_text(json, "type", "string");
        json_text(json, "pattern", definitions[i].pattern);
        json_end(json);
    }
}

void schema_value_refer(struct json *json, const char *key, const char *definition)
{
    char pointer[128];

    (void)snprintf(pointer, sizeof pointer, "#/$defs/%s", definition);
    json_begin_object(json, key);
    json_text(json, "$ref", pointer);
    json_end(json);
}

void schema_value_map_type(struct json *json, bool may_be_empty)
{
    if (!may_be_empty) {
        json_text(json, "type", "object");
        return;
    }
    json_begin_array(json, "type");
    json_text(json, NULL, "object");
    json_text(json, NULL, "null");
    json_end(json);
}

void schema_value_names(struct json *json, const char *key, const char *first, const char *second)
{
    json_begin_array(json, key);
    json_text(json, NULL, first);
    if (second)
        json_text(json, NULL, second);
    json_end(json);
}

void schema_value_constant(struct json *json, const char *name, const char *value)
{
    json_begin_object(json, "properties");
    json_begin_object(json, name);
    json_text(json, "const", value);
    json_end(json);
    json_end(json);
    schema_value_names(json, "required", name, NULL);
}

/* --- help and default ------------------------------------------------------------------------- */

static void write_default_list(struct json *json, const char *text)
{
    json_begin_array(json, "default");
    while (*text) {
        const char *start = text + strspn(text, " ");
        size_t length = strcspn(start, ",");
        char item[256];

        (void)snprintf(item, sizeof item, "%.*s", (int)length, start);
        for (size_t end = strlen(item); end && item[end - 1] == ' '; end--)
            item[end - 1] = '\0';
        json_text(json, NULL, item);
        text = start + length + (start[length] == ',');
    }
    json_end(json);
}

/* The text may be a number that JSON does not allow, such as `.5`. */
static void write_default_number(struct json *json, const char *text)
{
    double value = 0;
    char digits[48];

    if (text_parse_f64(text, &value) != TEXT_OK)
        return;
    (void)snprintf(digits, sizeof digits, "%.15g", value);
    json_number(json, "default", digits);
}

static void write_default(struct json *json, const struct weir_option *row)
{
    const char *text = row->fallback;
    uint64_t value;

    if (row->kind == WEIR_LIST && !option_is_choice(row, text))
        write_default_list(json, text);
    else if (row->kind == WEIR_F64)
        write_default_number(json, text);
    else if (row->kind == WEIR_BOOL)
        json_bool(json, "default", strcmp(text, "true") == 0);
    else if (row->kind != WEIR_STRING && row->kind != WEIR_POOL && row->kind != WEIR_ENUM &&
             text_parse_u64(text + (text[0] == '-'), &value) == TEXT_OK)
        json_number(json, "default", text);
    else
        json_text(json, "default", text);
}

void schema_value_annotate(struct json *json, const struct weir_option *row)
{
    if (row->help)
        json_text(json, "description", row->help);
    if (row->fallback && !row->secret)
        write_default(json, row);
}

/* --- kinds ------------------------------------------------------------------------------------ */

static void write_bound(struct json *json, const char *key, struct option_number number)
{
    char digits[32];

    (void)snprintf(digits, sizeof digits, "%s%llu", number.negative ? "-" : "",
                   (unsigned long long)number.magnitude);
    json_number(json, key, digits);
}

static void write_bare(struct json *json, const struct weir_option *row, const char *type)
{
    struct option_bounds bounds = option_bounds_of(row);

    json_begin_object(json, NULL);
    json_text(json, "type", type);
    if (row->kind != WEIR_F64 || option_has_bounds(row)) {
        write_bound(json, "minimum", bounds.min);
        write_bound(json, "maximum", bounds.max);
    }
    json_end(json);
}

void schema_value_integer(struct json *json, const struct weir_option *row)
{
    write_bare(json, row, "integer");
    schema_value_refer(json, NULL, INTEGER_TEXT);
}

static void write_bool(struct json *json)
{
    json_begin_object(json, NULL);
    json_text(json, "type", "boolean");
    json_end(json);
    schema_value_refer(json, NULL, BOOL_TEXT);
}

/* 0 is the one duration that needs no unit. */
static void write_duration(struct json *json, const struct weir_option *row)
{
    if (option_bounds_of(row).min.magnitude == 0) {
        json_begin_object(json, NULL);
        json_unsigned(json, "const", 0);
        json_end(json);
    }
    schema_value_refer(json, NULL, DURATION_TEXT);
}

/* YAML reads a choice that looks like a number or a boolean as one. */
static void write_choice(struct json *json, const char *choice)
{
    uint64_t number;
    bool truth;

    json_text(json, NULL, choice);
    if (text_parse_u64(choice, &number) == TEXT_OK || text_parse_bool(choice, &truth) == TEXT_OK)
        json_number(json, NULL, choice);
}

static void write_choices(struct json *json, const struct weir_option *row)
{
    json_begin_object(json, NULL);
    json_begin_array(json, "enum");
    for (size_t i = 0; row->choices[i]; i++)
        write_choice(json, row->choices[i]);
    json_end(json);
    json_end(json);
    schema_value_refer(json, NULL, SCHEMA_VARIABLE);
}

static void write_any_of(struct json *json, const struct weir_option *row)
{
    json_begin_array(json, "anyOf");
    switch (row->kind) {
    case WEIR_BOOL:
        write_bool(json);
        break;
    case WEIR_F64:
        write_bare(json, row, "number");
        schema_value_refer(json, NULL, NUMBER_TEXT);
        break;
    case WEIR_SIZE:
        write_bare(json, row, "integer");
        schema_value_refer(json, NULL, SIZE_TEXT);
        break;
    case WEIR_DURATION:
        write_duration(json, row);
        break;
    case WEIR_ENUM:
        write_choices(json, row);
        break;
    case WEIR_STRING:
    case WEIR_POOL:
        schema_value_refer(json, NULL, SCHEMA_TEXT);
        break;
    default:
        schema_value_integer(json, row);
        break;
    }
    json_end(json);
}

static void write_several(struct json *json, const struct weir_option *row)
{
    bool list = row->kind == WEIR_LIST;

    json_text(json, "type", list ? "array" : "object");
    schema_value_refer(json, list ? "items" : "additionalProperties", SCHEMA_TEXT);
    if (!option_has_bounds(row))
        return;
    if (row->min > 0)
        json_unsigned(json, list ? "minItems" : "minProperties", (uint64_t)row->min);
    if (row->max >= 0 && row->max != INT64_MAX)
        json_unsigned(json, list ? "maxItems" : "maxProperties", (uint64_t)row->max);
}

static void write_list_or_choices(struct json *json, const struct weir_option *row)
{
    json_begin_array(json, "anyOf");
    json_begin_object(json, NULL);
    write_several(json, row);
    json_end(json);
    write_choices(json, row);
    json_end(json);
}

void schema_value_write(struct json *json, const struct weir_option *row)
{
    json_begin_object(json, row->name);
    schema_value_annotate(json, row);
    if (row->kind == WEIR_LIST && row->choices)
        write_list_or_choices(json, row);
    else if (row->kind == WEIR_LIST || row->kind == WEIR_MAP)
        write_several(json, row);
    else
        write_any_of(json, row);
    json_end(json);
}
