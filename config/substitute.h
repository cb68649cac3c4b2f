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

#include "base/report.h"
#include "config/source.h"
#include "config/tree.h"

/* The amounts that one reading has used so far, over all its files; zeros at first. */
struct substitute_use {
    size_t bytes;        /* put in, at most limits.bytes */
    uint32_t references; /* `${` */
    uint32_t files;      /* ${file:...} */
};

/*
 * Replaces in all values below `root`, once each. Reports what is not set, cannot be read, or is
 * too much. WEIR_EINVALID, WEIR_ENOMEM.
 */
int substitute_values(struct config_tree *tree, struct config_node *root,
                      const struct config_source *source, struct substitute_use *use,
                      struct report *report);

#endif
