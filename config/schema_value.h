/* SPDX-License-Identifier: MIT */
/*
 * config/schema_value.h - writes the JSON Schema of one option, of the language or of a plugin.
 *
 * The reader takes every value for a text and substitutes `${...}` before the kind is known. So a
 * number may stand in quotes, a text may look like a number, and everything except a list or map
 * may come from a variable: the schema allows all of that. Bounds hold for bare numbers only.
 *
 * Borrows everything; keeps nothing. Not synchronised.
 */
#ifndef CONFIG_SCHEMA_VALUE_H
#define CONFIG_SCHEMA_VALUE_H

#include <weir/option.h>

#include "config/json.h"

/* Names of the definitions that schema_value_definitions writes, for schema_value_refer. */
#define SCHEMA_TEXT "text"
#define SCHEMA_VARIABLE "variable"
#define SCHEMA_DURATIONS "durations"
#define SCHEMA_RATE "rate"
#define SCHEMA_BEHAVIOUR "behaviour"

/* Writes the members of `$defs` that the schemas of values refer to. */
void schema_value_definitions(struct json *json);

/* Writes a schema that refers to a definition. */
void schema_value_refer(struct json *json, const char *key, const char *definition);

/* Writes the type of a map. With `may_be_empty` null is allowed, too, as in the checker. */
void schema_value_map_type(struct json *json, bool may_be_empty);
/* An array of one text, or of two; `second` may be NULL. */
void schema_value_names(struct json *json, const char *key, const char *first, const char *second);
/* Writes the members that require the key `name` to have this value. */
void schema_value_constant(struct json *json, const char *name, const char *value);

/* The option's schema, with its help and default, as member `row->name`. */
void schema_value_write(struct json *json, const struct weir_option *row);

/* The members `description` and `default` alone; a secret option's default is left out. */
void schema_value_annotate(struct json *json, const struct weir_option *row);

/* Writes the elements of an anyOf: an integer within the row's bounds, bare or as a text. */
void schema_value_integer(struct json *json, const struct weir_option *row);

#endif
