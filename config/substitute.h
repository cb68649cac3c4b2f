/*
 * config/substitute.h - replaces ${NAME}, ${NAME:-default} and ${file:/path} in the values of a
 * tree.
 *
 * It works after parsing, so what is put in can never become structure; and before values are
 * typed, so a number may come from the environment. `$${` stands for `${` itself. What comes from
 * ${file:...} is marked secret.
 */
#ifndef CONFIG_SUBSTITUTE_H
#define CONFIG_SUBSTITUTE_H

#include "config/reader.h"

/*
 * Replaces in all values below `root`, once each. Reports what is not set or cannot be read.
 * `*bytes` is how much has been put in so far, at most limits.bytes. WEIR_EINVALID, WEIR_ENOMEM.
 */
int substitute_values(struct config_tree *tree, struct config_node *root,
                      const struct config_source *source, size_t *bytes, struct report *report);

#endif
