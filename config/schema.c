/* SPDX-License-Identifier: MIT */
#include "config/schema.h"

#include "config/bound.h"
#include "config/capacity.h"
#include "config/language.h"
#include "config/schema_value.h"
#include "config/settings.h"

#define DIALECT "https://json-schema.org/draft/2020-12/schema"

#define DEF_NAME "name"
#define DEF_DISPATCHER "dispatcher"
#define DEF_SOURCE "source"
#define DEF_OUTPUT "output"
#define DEF_OUTPUTS "outputs"
#define DEF_POOL "pool"
#define DEF_WORKERS "pool_of_workers"
#define DEF_POOLS "pool_of_pools"

struct schema {
    struct json json;
    const struct schema_use *uses;
    size_t count;
};

/* --- small pieces ----------------------------------------------------------------------------- */

static void write_requires(struct json *json, const char *key, const char *name)
{
    json_begin_object(json, key);
    schema_value_names(json, "required", name, NULL);
    json_end(json);
}

/* --- keys that are more than a value ---------------------------------------------------------- */

static void write_version(struct json *json, const struct language_row *row)
{
    json_begin_array(json, "anyOf");
    schema_value_integer(json, &row->option);
    json_end(json);
}

static void write_file_names(struct json *json)
{
    json_text(json, "type", "array");
    schema_value_refer(json, "items", SCHEMA_TEXT);
}

static void write_range_end(struct json *json, const struct language_row *row, const char *name)
{
    json_begin_object(json, name);
    json_begin_array(json, "anyOf");
    schema_value_integer(json, &row->option);
    json_end(json);
    json_end(json);
}

/* A number, or {min, max}. */
static void write_count(struct json *json, const struct language_row *row)
{
    json_begin_array(json, "anyOf");
    schema_value_integer(json, &row->option);
    json_begin_object(json, NULL);
    json_text(json, "type", "object");
    json_begin_object(json, "properties");
    write_range_end(json, row, "min");
    write_range_end(json, row, "max");
    json_end(json);
    schema_value_names(json, "required", "min", "max");
    json_bool(json, "additionalProperties", false);
    json_end(json);
    json_end(json);
}

static void write_capacity(struct json *json, const struct language_row *row)
{
    json_begin_array(json, "anyOf");
    json_begin_object(json, NULL);
    json_begin_array(json, "enum");
    for (uint32_t i = 0; capacity_words[i]; i++)
        json_text(json, NULL, capacity_words[i]);
    json_end(json);
    json_end(json);
    schema_value_integer(json, &row->option);
    json_end(json);
}

static void write_bound(struct json *json, const struct language_row *row)
{
    json_begin_array(json, "anyOf");
    json_begin_object(json, NULL);
    json_text(json, "const", BOUND_WORD);
    json_end(json);
    schema_value_integer(json, &row->option);
    json_end(json);
}

static void write_threads(struct json *json, const struct language_row *row)
{
    json_begin_array(json, "anyOf");
    json_begin_object(json, NULL);
    json_text(json, "const", "auto");
    json_end(json);
    schema_value_integer(json, &row->option);
    json_end(json);
}

static void write_behaviour(struct schema *schema, bool as_source)
{
    struct json *json = &schema->json;
    bool found = false;

    json_text(json, "$ref", "#/$defs/" SCHEMA_BEHAVIOUR);
    for (size_t i = 0; i < schema->count; i++) {
        if (!schema_use_fits(&schema->uses[i], as_source))
            continue;
        if (!found)
            json_begin_array(json, "examples");
        found = true;
        json_text(json, NULL, schema->uses[i].use);
    }
    if (found)
        json_end(json);
}

/* A map from names to maps of `rows`. Only a pool has `pool` rows in it, and then at least one. */
static void write_named(struct json *json, const struct language_row *row)
{
    bool members = row->scope == LANGUAGE_OF_POOLS;
    const char *definition = DEF_POOL;

    if (row->rows == language_dispatcher)
        definition = DEF_DISPATCHER;
    else if (row->rows == language_source)
        definition = DEF_SOURCE;
    schema_value_map_type(json, !members);
    if (members)
        json_unsigned(json, "minProperties", 1);
    schema_value_refer(json, "propertyNames", DEF_NAME);
    schema_value_refer(json, "additionalProperties", definition);
}

static void write_section(struct schema *schema, const struct language_row *rows, uint32_t scope,
                          bool as_source);

/* A text such as 100/s, or a map of the rows. */
static void write_rate(struct schema *schema, const struct language_row *row)
{
    struct json *json = &schema->json;

    json_begin_array(json, "anyOf");
    schema_value_refer(json, NULL, SCHEMA_RATE);
    json_begin_object(json, NULL);
    write_section(schema, row->rows, 0, false);
    json_end(json);
    json_end(json);
}

static void write_kind(struct schema *schema, const struct language_row *row, bool as_source)
{
    struct json *json = &schema->json;

    switch (row->option.kind) {
    case LANGUAGE_SECTION:
        write_section(schema, row->rows, 0, as_source);
        break;
    case LANGUAGE_NAMES:
        write_named(json, row);
        break;
    case LANGUAGE_RANGE:
        json_text(json, "$ref", "#/$defs/" SCHEMA_DURATIONS);
        break;
    case LANGUAGE_COUNT:
        write_count(json, row);
        break;
    case LANGUAGE_CAPACITY:
        write_capacity(json, row);
        break;
    case LANGUAGE_BOUND:
        write_bound(json, row);
        break;
    case LANGUAGE_RATE:
        write_rate(schema, row);
        break;
    case LANGUAGE_THREADS:
        write_threads(json, row);
        break;
    case LANGUAGE_BEHAVIOUR:
        write_behaviour(schema, as_source);
        break;
    case LANGUAGE_ARGS:
        schema_value_map_type(json, true);
        break;
    case LANGUAGE_OUTPUTS:
        json_text(json, "$ref", "#/$defs/" DEF_OUTPUTS);
        break;
    case LANGUAGE_POOL:
        json_text(json, "$ref", "#/$defs/" DEF_POOL);
        break;
    case LANGUAGE_FILES:
        write_file_names(json);
        break;
    case LANGUAGE_VERSION:
        write_version(json, row);
        break;
    default: /* names of things */
        json_text(json, "$ref", "#/$defs/" SCHEMA_TEXT);
        break;
    }
}

static void write_row(struct schema *schema, const struct language_row *row, bool as_source)
{
    if (language_is_value(row)) {
        schema_value_write(&schema->json, &row->option);
        return;
    }
    json_begin_object(&schema->json, row->option.name);
    schema_value_annotate(&schema->json, &row->option);
    write_kind(schema, row, as_source);
    json_end(&schema->json);
}

/* --- maps of keys ----------------------------------------------------------------------------- */

/* A key may be required in one scope only: `use` of workers. */
static bool is_required(const struct language_row *row, uint32_t scope)
{
    return row->option.required || (scope == LANGUAGE_OF_WORKERS &&
                                    row->option.kind == LANGUAGE_BEHAVIOUR && row->scope == scope);
}

static bool write_required(struct json *json, const struct language_row *rows, uint32_t scope)
{
    bool any = false;

    for (; rows->option.name; rows++) {
        if (!language_is_in(rows, scope) || !is_required(rows, scope))
            continue;
        if (!any)
            json_begin_array(json, "required");
        any = true;
        json_text(json, NULL, rows->option.name);
    }
    if (any)
        json_end(json);
    return any;
}

/* Writes the members of a schema for a map with exactly these keys. */
static void write_section(struct schema *schema, const struct language_row *rows, uint32_t scope,
                          bool as_source)
{
    struct json *json = &schema->json;
    bool required = write_required(json, rows, scope);

    /* The file, a pool and a map with required keys cannot be empty. */
    schema_value_map_type(json, !required && scope == 0 && rows != language_top);
    json_begin_object(json, "properties");
    for (; rows->option.name; rows++) {
        /* The number of copies has another range than the number of workers: see write_copies. */
        if (language_is_in(rows, scope) &&
            (scope != LANGUAGE_OF_POOLS || rows->option.kind != LANGUAGE_COUNT))
            write_row(schema, rows, as_source);
        else if (language_is_in(rows, scope))
            json_bool(json, rows->option.name, true);
    }
    json_end(json);
    json_bool(json, "additionalProperties", false);
}

/* --- definitions ------------------------------------------------------------------------------ */

static void define_name(struct json *json)
{
    char pattern[64];

    (void)snprintf(pattern, sizeof pattern, "^[A-Za-z0-9][A-Za-z0-9_-]{0,%u}$",
                   SETTINGS_NAME_MAX - 1);
    json_begin_object(json, DEF_NAME);
    json_text(json, "pattern", pattern);
    json_end(json);
}

static void define_dispatcher(struct schema *schema)
{
    json_begin_object(&schema->json, DEF_DISPATCHER);
    write_section(schema, language_dispatcher, 0, false);
    json_end(&schema->json);
}

static void define_source(struct schema *schema)
{
    json_begin_object(&schema->json, DEF_SOURCE);
    write_section(schema, language_source, 0, true);
    schema_use_write(&schema->json, schema->uses, schema->count, true);
    json_end(&schema->json);
}

/* The path of a pool, or the long form. */
static void define_outputs(struct schema *schema)
{
    struct json *json = &schema->json;

    json_begin_object(json, DEF_OUTPUT);
    write_section(schema, language_output, 0, false);
    json_end(json);
    json_begin_object(json, DEF_OUTPUTS);
    schema_value_map_type(json, true);
    json_begin_object(json, "additionalProperties");
    json_begin_array(json, "anyOf");
    schema_value_refer(json, NULL, SCHEMA_TEXT);
    schema_value_refer(json, NULL, DEF_OUTPUT);
    json_end(json);
    json_end(json);
    json_end(json);
}

static void define_workers(struct schema *schema)
{
    json_begin_object(&schema->json, DEF_WORKERS);
    write_section(schema, language_pool, LANGUAGE_OF_WORKERS, false);
    schema_use_write(&schema->json, schema->uses, schema->count, false);
    json_end(&schema->json);
}

/* The names of the members give their number. */
static void write_members(struct json *json)
{
    json_begin_object(json, NULL);
    schema_value_names(json, "required", "members", NULL);
    json_begin_object(json, "properties");
    json_bool(json, "pool", false);
    json_bool(json, "size", false);
    json_end(json);
    json_end(json);
}

static void write_copies(struct json *json)
{
    static const struct weir_option copies = {
        .name = "size", .kind = WEIR_U32, .min = 1, .max = SETTINGS_POOLS_MAX, .help = "copies"
    };

    json_begin_object(json, NULL);
    schema_value_names(json, "required", "pool", "size");
    json_begin_object(json, "properties");
    json_bool(json, "members", false);
    schema_value_write(json, &copies);
    json_end(json);
    json_end(json);
}

static void define_pools(struct schema *schema)
{
    struct json *json = &schema->json;

    json_begin_object(json, DEF_POOLS);
    write_section(schema, language_pool, LANGUAGE_OF_POOLS, false);
    json_begin_array(json, "oneOf");
    write_members(json);
    write_copies(json);
    json_end(json);
    json_begin_object(json, "not"); /* pulling is for workers */
    schema_value_constant(json, "route", "pull");
    json_end(json);
    json_end(json);
}

/* Decides first between workers and pools, so that mistakes are reported for the right kind. */
static void define_pool(struct schema *schema)
{
    struct json *json = &schema->json;

    json_begin_object(json, DEF_POOL);
    json_text(json, "type", "object");
    json_begin_object(json, "if");
    json_begin_array(json, "anyOf");
    write_requires(json, NULL, "members");
    write_requires(json, NULL, "pool");
    json_end(json);
    json_end(json);
    schema_value_refer(json, "then", DEF_POOLS);
    schema_value_refer(json, "else", DEF_WORKERS);
    json_end(json);
    define_workers(schema);
    define_pools(schema);
}

static void write_definitions(struct schema *schema)
{
    json_begin_object(&schema->json, "$defs");
    schema_value_definitions(&schema->json);
    define_name(&schema->json);
    define_dispatcher(schema);
    define_source(schema);
    define_outputs(schema);
    define_pool(schema);
    json_end(&schema->json);
}

/* --- all -------------------------------------------------------------------------------------- */

void schema_write(FILE *stream, const struct schema_use *uses, size_t count)
{
    struct schema schema = { .uses = uses, .count = count };
    struct json *json = &schema.json;

    json_init(json, stream);
    json_begin_object(json, NULL);
    json_text(json, "$schema", DIALECT);
    json_text(json, "title", "Weir configuration");
    write_section(&schema, language_top, 0, false);
    json_begin_object(json, "patternProperties");
    json_bool(json, "^x-", true);
    json_end(json);
    write_definitions(&schema);
    json_end(json);
    json_finish(json);
}
