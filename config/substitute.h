/* SPDX-License-Identifier: MIT */
/*
 * config/substitute.h - replaces ${NAME}, ${NAME:-default} and ${file:/path} in the values of a
 * tree.
 *
 * It runs after parsing, so a value can never become structure; and before values are typed, so a
 * number may come from the environment. `$${` stands for `${` itself. A value from ${file:...} is
 * marked secret.
 */
#ifndef CONFIG_SUBSTITUTE_H
#define CONFIG_SUBSTITUTE_H

#include "base/report.h"
#include "config/source.h"
#include "config/tree.h"

/* The amounts that one reading has used so far, over all its files. Begins with zeros. */
struct substitute_use {
    size_t bytes;        /* substituted, at most limits.bytes */
    uint32_t references; /* `${` */
    uint32_t files;      /* ${file:...} */
};

/*
 * Substitutes in all values below `root`, once each. Reports variables that are not set, files that
 * cannot be read, and amounts past a limit. WEIR_EINVALID, WEIR_ENOMEM.
 */
int substitute_values(struct config_tree *tree, struct config_node *root,
                      const struct config_source *source, struct substitute_use *use,
                      struct report *report);

#endif
