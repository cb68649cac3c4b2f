/* SPDX-License-Identifier: MIT */
#include "config/tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct config_tree *config_tree_create(void)
{
    struct config_tree *tree = calloc(1, sizeof *tree);

    if (tree)
        text_store_init(&tree->store);
    return tree;
}

void config_tree_destroy(struct config_tree *tree)
{
    if (!tree)
        return;
    text_store_finish(&tree->store);
    free(tree);
}

const struct config_pair *config_find_pair(const struct config_node *map, const char *key)
{
    if (!map || map->kind != CONFIG_MAP)
        return NULL;
    for (uint32_t i = 0; i < map->count; i++) {
        if (strcmp(map->pairs[i].key->text, key) == 0)
            return &map->pairs[i];
    }
    return NULL;
}

const struct config_node *config_find(const struct config_node *map, const char *key)
{
    const struct config_pair *pair = config_find_pair(map, key);

    return pair ? pair->value : NULL;
}

const char *config_describe(const struct config_node *node, char *text, size_t size)
{
    if (node->kind == CONFIG_MAP)
        (void)snprintf(text, size, "a map");
    else if (node->kind == CONFIG_LIST)
        (void)snprintf(text, size, "a list");
    else if (node->secret)
        (void)snprintf(text, size, "a secret");
    else if (node->null)
        (void)snprintf(text, size, "nothing");
    else
        (void)snprintf(text, size, "\"%.64s\"", node->text);
    return text;
}

size_t config_plugin_directories(const struct config_tree *tree, const char **directories,
                                 size_t max)
{
    const struct config_node *list = config_find(config_find(tree->root, "host"), "plugins");
    size_t count = 0;

    if (!list || list->kind != CONFIG_LIST)
        return 0;
    for (uint32_t i = 0; i < list->count; i++) {
        const struct config_node *item = list->pairs[i].value;

        if (item->kind != CONFIG_SCALAR || item->null)
            continue;
        if (count < max)
            directories[count] = item->text;
        count++;
    }
    return count;
}
