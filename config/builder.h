/* SPDX-License-Identifier: MIT */
/*
 * config/builder.h - builds nodes from libyaml's events, within limits that hold for every text.
 *
 * The first event over a limit ends the reading; the rest of the text is not read. Duplicate keys,
 * explicit tags, further documents and aliases that contain themselves are refused. Not
 * synchronised.
 */
#ifndef CONFIG_BUILDER_H
#define CONFIG_BUILDER_H

#include "config/source.h"
#include "config/tree.h"

/*
 * Reads a text into nodes of `tree` and returns their root, a map, through out_root. `*nodes` is
 * the number of nodes that the tree has already, aliases written out; it grows. WEIR_EINVALID after
 * a report, WEIR_ENOMEM. On 0 `*out_wrong` is true when mistakes were reported that leave a tree to
 * be checked: of a key that is set twice the first value stays, and an alias without anchor is
 * empty.
 */
int builder_read(struct config_tree *tree, const struct config_text *text,
                 const struct config_limits *limits, uint32_t *nodes, struct report *report,
                 struct config_node **out_root, bool *out_wrong);

#endif
