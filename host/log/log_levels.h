/* SPDX-License-Identifier: MIT */
/*
 * log/log_levels.h - the pools that have a log level of their own.
 *
 * The component of log lines of a pool, its workers and its manager begins with the path of the
 * pool: `images`, `images#3`, `images/small#0`. A nested pool has the level of the nearest pool
 * around it that has one.
 *
 * Life: log_levels_create .. log_levels_destroy; constant in between.
 */
#ifndef HOST_LOG_LOG_LEVELS_H
#define HOST_LOG_LOG_LEVELS_H

#include "config/settings.h"

struct log_levels;

/* Collects the levels of all pools of the settings; `out` is NULL when all have the host's. Returns
 * owned. WEIR_ENOMEM. Copies the texts. */
int log_levels_create(const struct settings *settings, struct log_levels **out);
/* NULL is allowed. */
void log_levels_destroy(struct log_levels *levels);

/* The level of the pool that a component belongs to; `otherwise` without such a pool. */
int log_levels_find(const struct log_levels *levels, const char *component, int otherwise);

/* The most verbose level. */
int log_levels_most(const struct log_levels *levels);

#endif
