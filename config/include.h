/* SPDX-License-Identifier: MIT */
/*
 * config/include.h - joins several files: finds the files, and merges their keys.
 */
#ifndef CONFIG_INCLUDE_H
#define CONFIG_INCLUDE_H

#include "base/report.h"
#include "config/files.h"
#include "config/key_index.h"
#include "config/tree.h"

/* Files in the order in which they are read. Life: include_find .. include_finish. */
struct include_list {
    char **files; /* owned */
    size_t count;
};

/*
 * Finds the files of `patterns`, the value of `include`. The files of one pattern are sorted;
 * relative names are relative to `file`'s folder. The patterns themselves go to `files`, which may
 * be NULL. WEIR_EINVALID after a report, WEIR_ENOMEM.
 */
int include_find(const char *file, const struct config_node *patterns, struct config_files *files,
                 struct report *report, struct include_list *out);
void include_finish(struct include_list *list);

/*
 * A tree that files are merged into, one after another; the cost of a file does not depend on the
 * files before it. Borrows tree and report. Life: include_merging_init .. include_merging_finish.
 */
struct include_merging {
    struct config_tree *tree;
    struct report *report;
    struct key_index keys;    /* of the maps that grow, by their node */
    struct include_map *maps; /* owned: the root and its sections */
    size_t map_count;
    const char *section; /* being merged; NULL at the top */
};

void include_merging_init(struct include_merging *merging, struct config_tree *tree,
                          struct report *report);
void include_merging_finish(struct include_merging *merging);

/*
 * Adds the keys of `added` to the tree's root: the sections that hold names (`pools`, `sources`,
 * `dispatchers`, `host`) grow, every other key must be new. A key that is set twice is reported
 * with both places. WEIR_EINVALID, WEIR_ENOMEM.
 */
int include_merge(struct include_merging *merging, const struct config_node *added);

#endif
