/* SPDX-License-Identifier: MIT */
/*
 * config/fill.h - fills structs from maps of the tree, by the tables of the language.
 *
 * Not synchronised. All functions answer WEIR_EINVALID after a report, or WEIR_ENOMEM.
 */
#ifndef CONFIG_FILL_H
#define CONFIG_FILL_H

#include "base/option.h"
#include "config/language.h"
#include "config/tree.h"

struct fill {
    struct text_store *store; /* of the filled-in values */
    struct report *report;    /* NULL is silent */
};

/*
 * Fills `out` from `map` (NULL or empty = all defaults): every value and section of the table that
 * is in `scope` (0 = all). Reports unknown keys; the caller reads the other rows. `path` is the
 * map's own. `place` is the position that a missing key is reported at.
 */
int fill_section(const struct fill *fill, const struct language_row *rows, uint32_t scope,
                 const struct config_node *map, const struct mark *place, const char *path,
                 void *out);

/* Accepts a map, or no value in its place; reports anything else. WEIR_EINVALID. */
int fill_expect_map(const struct fill *fill, const struct config_node *node, const char *path);

/* Reports a name that is not allowed in a path, a metric or a file name. WEIR_EINVALID. */
int fill_check_name(const struct fill *fill, const struct config_node *key, const char *path);

/*
 * The pairs of a map as option values that borrow the tree's texts. out_values is NULL when there
 * are no pairs; the values and their arrays are kept in `store`. WEIR_ENOMEM.
 */
int fill_values(const struct config_node *map, struct text_store *store,
                struct option_value **out_values, size_t *out_count);

#endif
