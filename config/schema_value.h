/*
 * config/schema_value.h - what one option takes, as JSON Schema: those of the language and of
 * plugins alike.
 *
 * The reader takes every value for a text and replaces `${...}` in it before its kind is known. So
 * a number may stand in quotes, a text may look like a number, and whatever is more than a list or
 * map may come from a variable: the schema allows all of that. Bounds hold for bare numbers only.
 *
 * Borrows everything; keeps nothing. Not synchronised.
 */
#ifndef CONFIG_SCHEMA_VALUE_H
#define CONFIG_SCHEMA_VALUE_H

#include <weir/option.h>

#include "config/json.h"

/* Names of what schema_value_definitions defines, for schema_value_refer. */
#define SCHEMA_TEXT "text"
#define SCHEMA_VARIABLE "variable"
#define SCHEMA_DURATIONS "durations"
#define SCHEMA_BEHAVIOUR "behaviour"

/* The members of `$defs` on which the schemas of values rest. */
void schema_value_definitions(struct json *json);

/* A schema that is a reference to a definition. */
void schema_value_refer(struct json *json, const char *key, const char *definition);

/* The type of a map: as the checker has it, nothing in its place may be an empty one. */
void schema_value_map_type(struct json *json, bool may_be_empty);
/* An array of one text, or of two; `second` may be NULL. */
void schema_value_names(struct json *json, const char *key, const char *first, const char *second);
/* The members that demand of a map that it has this key with this value. */
void schema_value_constant(struct json *json, const char *name, const char *value);

/* The option's schema, with its help and default, as member `row->name`. */
void schema_value_write(struct json *json, const struct weir_option *row);

/* The members `description` and `default` alone; a secret option's default is left out. */
void schema_value_annotate(struct json *json, const struct weir_option *row);

/* The elements of an anyOf: an integer within the row's bounds, bare, or as a text. */
void schema_value_integer(struct json *json, const struct weir_option *row);

#endif
