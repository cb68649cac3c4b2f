/* SPDX-License-Identifier: MIT */
#include "embed/levels.h"

#include <stdlib.h>
#include <string.h>

#include "embed/usual.h"

struct level {
    struct table_node node; /* by the key of its path */
    uint32_t level;         /* const */
    char path[];            /* const */
};

void levels_init(struct levels *levels, uint32_t given)
{
    lock_init(&levels->lock, LOCK_LEVELS);
    levels->by_path = (struct table){ .only = NULL };
    levels->usual = given ? given : WEIR_LOG_UP_TO(USUAL_LOG_LEVEL);
}

void levels_finish(struct levels *levels)
{
    lock_finish(&levels->lock);
}

struct level *levels_add(struct levels *levels, const char *path, uint32_t level)
{
    size_t length = strlen(path);
    struct level *added = calloc(1, sizeof *added + length + 1);

    if (!added)
        return NULL;
    added->level = level;
    memcpy(added->path, path, length + 1);
    lock_acquire(&levels->lock);
    table_add(&levels->by_path, &added->node, weir_key(path, length));
    lock_release(&levels->lock);
    return added;
}

void levels_remove(struct levels *levels, struct level *level)
{
    if (!level)
        return;
    lock_acquire(&levels->lock);
    table_remove(&levels->by_path, &level->node);
    lock_release(&levels->lock);
    free(level);
}

static uint32_t find_locked(const struct levels *levels, const char *path, size_t length)
{
    struct table_node *node = table_first(&levels->by_path, weir_key(path, length));

    for (; node; node = table_next(node)) {
        const struct level *level = TABLE_ENTRY(node, struct level, node);

        if (strlen(level->path) == length && memcmp(level->path, path, length) == 0)
            return level->level;
    }
    return levels->usual;
}

bool levels_show(struct levels *levels, const char *component, enum weir_log_level level)
{
    uint32_t most;

    lock_acquire(&levels->lock);
    most = component ? find_locked(levels, component, strcspn(component, "#")) : levels->usual;
    lock_release(&levels->lock);
    return WEIR_LOG_UP_TO(level) <= most;
}
