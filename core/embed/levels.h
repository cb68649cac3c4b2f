/* SPDX-License-Identifier: MIT */
/*
 * embed/levels.h - log levels: the runtime's, and those of pools that have their own.
 *
 * A level is 1 + one of enum weir_log_level; 0 = none of its own. Any thread. This lock is the last
 * in the lock order, since others are held while lines are written.
 */
#ifndef EMBED_LEVELS_H
#define EMBED_LEVELS_H

#include <stdbool.h>

#include "base/lock.h"
#include "base/table.h"

#include <weir/runtime.h>

struct level;

struct levels {
    struct lock lock;
    struct table by_path; /* lock: of pools */
    uint32_t usual;       /* const: for all other components */
};

void levels_init(struct levels *levels, uint32_t given);
void levels_finish(struct levels *levels);

/* Gives the lines of a pool a level; borrows the path. NULL when memory is out. */
struct level *levels_add(struct levels *levels, const char *path, uint32_t level);
/* Removes the level of a pool. NULL is allowed. */
void levels_remove(struct levels *levels, struct level *level);

/* Whether a line is to be shown. `component` is the path of a pool, or of a worker below it. */
bool levels_show(struct levels *levels, const char *component, enum weir_log_level level);

#endif
