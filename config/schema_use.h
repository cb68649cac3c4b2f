/* SPDX-License-Identifier: MIT */
/*
 * config/schema_use.h - the rules of a behaviour for its `args` and outputs, as JSON Schema.
 *
 * Borrows everything; keeps nothing. Not synchronised.
 */
#ifndef CONFIG_SCHEMA_USE_H
#define CONFIG_SCHEMA_USE_H

#include <weir/plugin.h>

#include "config/json.h"

/* A behaviour whose args and outputs the schema describes. */
struct schema_use {
    const char *use; /* `plugin.behaviour` */
    const struct weir_behaviour *behaviour;
};

/* True when the behaviour fits: a source produces, a worker handles. */
bool schema_use_fits(const struct schema_use *use, bool as_source);

/* Writes the member `allOf` of a source or a pool of workers; nothing without behaviours. */
void schema_use_write(struct json *json, const struct schema_use *uses, size_t count,
                      bool as_source);

#endif
