/*
 * log/log_levels.h - the pools whose log level is their own, not the host's.
 *
 * The component of log lines of a pool, its workers and its manager begins with the path of the
 * pool: `images`, `images#3`, `images/small#0`. A pool inside another has the level of the nearest
 * pool around it that has one.
 *
 * Life: log_levels_create .. log_levels_destroy; constant in between.
 */
#ifndef HOST_LOG_LOG_LEVELS_H
#define HOST_LOG_LOG_LEVELS_H

#include "config/settings.h"

struct log_levels;

/* Of all pools of the settings; NULL in `out` when all have the host's. Returns owned. WEIR_ENOMEM.
 * Copies what it needs. */
int log_levels_create(const struct settings *settings, struct log_levels **out);
/* NULL is allowed. */
void log_levels_destroy(struct log_levels *levels);

/* The level of the pool that a line's component belongs to; `otherwise` when it has none of its
 * own. */
int log_levels_find(const struct log_levels *levels, const char *component, int otherwise);

/* The level that lets the most lines pass. */
int log_levels_most(const struct log_levels *levels);

#endif
