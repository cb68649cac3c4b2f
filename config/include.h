/*
 * config/include.h - puts several files together: which files, and what happens to their keys.
 */
#ifndef CONFIG_INCLUDE_H
#define CONFIG_INCLUDE_H

#include "config/reader.h"

/* Files in the order in which they are read. Life: include_find .. include_finish. */
struct include_list {
    char **files; /* owned */
    size_t count;
};

/*
 * The files that `patterns`, the value of `include`, names; those of one pattern sorted; relative
 * ones beside `file`. The patterns themselves go to `files`, which may be NULL. WEIR_EINVALID after
 * a report, WEIR_ENOMEM.
 */
int include_find(const char *file, const struct config_node *patterns, struct config_files *files,
                 struct report *report, struct include_list *out);
void include_finish(struct include_list *list);

/*
 * Adds the keys of `added` to the tree's root: the sections that hold names (`pools`, `sources`,
 * `dispatchers`, `host`) grow, every other key must be new. A key that is set twice is reported
 * with both places. WEIR_EINVALID, WEIR_ENOMEM.
 */
int include_merge(struct config_tree *tree, const struct config_node *added, struct report *report);

#endif
