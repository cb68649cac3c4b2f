/* SPDX-License-Identifier: MIT */
/*
 * config/tree.h - the tree that a YAML file is read into: nodes with their position.
 *
 * A node may have several places in the tree, since an alias is the very node of its anchor. So a
 * complete tree never changes. It has no cycles.
 *
 * Life: config_tree_create .. config_tree_destroy; nodes are borrowed until then. Not synchronised.
 */
#ifndef CONFIG_TREE_H
#define CONFIG_TREE_H

#include "base/report.h"
#include "base/text.h"

enum config_kind {
    CONFIG_SCALAR,
    CONFIG_LIST,
    CONFIG_MAP,
};

struct config_node;

/* A key and its value; in a list the key is NULL. */
struct config_pair {
    struct config_node *key;
    struct config_node *value;
};

struct config_node {
    enum config_kind kind;
    struct mark mark;
    const char *text;          /* of a scalar, without NUL inside */
    bool null;                 /* a scalar that is empty, `~` or `null`, without quotes */
    bool secret;               /* came from ${file:...}: never printed */
    bool substituted;          /* its ${...} have been replaced */
    uint32_t count;            /* pairs */
    uint32_t weight;           /* nodes in it, itself and aliases written out included */
    uint32_t height;           /* levels of nesting in it; a scalar has 0 */
    struct config_pair *pairs; /* in order of the file */
};

struct config_tree {
    struct text_store store;  /* all nodes and texts */
    struct config_node *root; /* a map, complete */
    bool wrong;               /* mistakes were reported; the rest can be checked */
};

/* NULL when memory is out. Returns owned. */
struct config_tree *config_tree_create(void);
/* NULL is allowed. */
void config_tree_destroy(struct config_tree *tree);

/* The value of `key` in a map; NULL when there is none, or when `map` is NULL or no map. */
const struct config_node *config_find(const struct config_node *map, const char *key);
/* As config_find, but returns the pair, which has the key's position. */
const struct config_pair *config_find_pair(const struct config_node *map, const char *key);

/* `a map`, `a list`, `nothing`, or the text in quotes, truncated; for messages. Uses `text`. */
const char *config_describe(const struct config_node *node, char *text, size_t size);

/*
 * The valid directories of host.plugins, for making the catalogue before the check. Writes at most
 * `max`, borrowed from the tree; returns how many there are.
 */
size_t config_plugin_directories(const struct config_tree *tree, const char **directories,
                                 size_t max);

#endif
