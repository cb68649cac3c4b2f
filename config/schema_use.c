/* SPDX-License-Identifier: MIT */
#include "config/schema_use.h"

#include "config/schema_value.h"

bool schema_use_fits(const struct schema_use *use, bool as_source)
{
    return as_source ? use->behaviour->produce != NULL : use->behaviour->handle != NULL;
}

static bool needs_args(const struct weir_behaviour *behaviour)
{
    for (const struct weir_option *row = behaviour->options; row && row->name; row++) {
        if (row->required)
            return true;
    }
    return false;
}

static bool needs_outputs(const struct weir_behaviour *behaviour)
{
    for (const struct weir_output *row = behaviour->outputs; row && row->name; row++) {
        if (row->required)
            return true;
    }
    return false;
}

static void write_args(struct json *json, const struct weir_behaviour *behaviour)
{
    json_begin_object(json, "args");
    schema_value_map_type(json, !needs_args(behaviour));
    json_begin_object(json, "properties");
    for (const struct weir_option *row = behaviour->options; row && row->name; row++)
        schema_value_write(json, row);
    json_end(json);
    json_begin_array(json, "required");
    for (const struct weir_option *row = behaviour->options; row && row->name; row++) {
        if (row->required)
            json_text(json, NULL, row->name);
    }
    json_end(json);
    json_bool(json, "additionalProperties", false);
    json_end(json);
}

static void write_outputs(struct json *json, const struct weir_behaviour *behaviour)
{
    json_begin_object(json, "outputs");
    schema_value_map_type(json, !needs_outputs(behaviour));
    json_begin_object(json, "properties");
    for (const struct weir_output *row = behaviour->outputs; row && row->name; row++) {
        json_begin_object(json, row->name);
        if (row->help)
            json_text(json, "description", row->help);
        json_end(json);
    }
    json_end(json);
    json_begin_array(json, "required");
    for (const struct weir_output *row = behaviour->outputs; row && row->name; row++) {
        if (row->required)
            json_text(json, NULL, row->name);
    }
    json_end(json);
    json_bool(json, "additionalProperties", false);
    json_end(json);
}

/* Writes the rules for a use of the behaviour; nothing is valid where the behaviour does not
 * fit. */
static void write_consequence(struct json *json, const struct schema_use *use, bool as_source)
{
    const struct weir_behaviour *behaviour = use->behaviour;

    if (!schema_use_fits(use, as_source)) {
        json_bool(json, "then", false);
        return;
    }
    json_begin_object(json, "then");
    json_begin_object(json, "properties");
    write_args(json, behaviour);
    if (!as_source)
        write_outputs(json, behaviour);
    json_end(json);
    json_begin_array(json, "required");
    if (needs_args(behaviour))
        json_text(json, NULL, "args");
    if (!as_source && needs_outputs(behaviour))
        json_text(json, NULL, "outputs");
    json_end(json);
    json_end(json);
}

void schema_use_write(struct json *json, const struct schema_use *uses, size_t count,
                      bool as_source)
{
    if (count == 0)
        return;
    json_begin_array(json, "allOf");
    for (size_t i = 0; i < count; i++) {
        json_begin_object(json, NULL);
        json_begin_object(json, "if");
        schema_value_constant(json, "use", uses[i].use);
        json_end(json);
        write_consequence(json, &uses[i], as_source);
        json_end(json);
    }
    json_end(json);
}
