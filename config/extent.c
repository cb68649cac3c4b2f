/* SPDX-License-Identifier: MIT */
#include "config/extent.h"

#include <stdlib.h>
#include <string.h>

struct level {
    const struct config_node *node;
    uint32_t next; /* the pair that comes next */
};

/* A walk that enters a node once for each place where it occurs. */
struct walk {
    struct level *levels;
    uint32_t depth;
    size_t max;
    size_t *used;
    struct report *report;
};

static int add_text(struct walk *walk, const struct config_node *node)
{
    size_t left = walk->max - *walk->used;
    size_t size = strnlen(node->text, left + 1);
    char limit[32];

    if (size <= left) {
        *walk->used += size;
        return WEIR_OK;
    }
    text_format_size(walk->max, limit, sizeof limit);
    report_add(walk->report, &node->mark, NULL,
               "holds more than %s of text with aliases written out", limit);
    return WEIR_EINVALID;
}

static int step(struct walk *walk)
{
    struct level *level = &walk->levels[walk->depth - 1];
    const struct config_pair *pair;
    int status = WEIR_OK;

    if (level->next == level->node->count) {
        walk->depth--;
        return WEIR_OK;
    }
    pair = &level->node->pairs[level->next++];
    if (pair->key)
        status = add_text(walk, pair->key);
    if (status != WEIR_OK)
        return status;
    if (pair->value->kind == CONFIG_SCALAR)
        return add_text(walk, pair->value);
    walk->levels[walk->depth++] = (struct level){ pair->value, 0 };
    return WEIR_OK;
}

int extent_add(const struct config_node *root, size_t max, size_t *used, struct report *report)
{
    struct walk walk = {
        .levels = calloc(root->height + 1, sizeof(struct level)),
        .depth = 1,
        .max = max,
        .report = report,
    };
    int status = WEIR_OK;

    walk.used = used;
    if (!walk.levels)
        return WEIR_ENOMEM;
    walk.levels[0].node = root;
    while (walk.depth && status == WEIR_OK)
        status = step(&walk);
    free(walk.levels);
    return status;
}
