/* SPDX-License-Identifier: MIT */
/*
 * pages/unit_pages.h - the units that plugins report with weir_progress, gauges included, on the
 * pages and as metrics.
 */
#ifndef HOST_PAGES_UNIT_PAGES_H
#define HOST_PAGES_UNIT_PAGES_H

#include <stdio.h>

#include "host/pages/overview_figures.h"

struct json;

/* Writes the units as an object into the open object; nothing when there are none. */
void unit_pages_json(const struct pool_progress *units, uint32_t count, struct json *json);

/* Writes a line for each unit of a pool. */
void unit_pages_print(const struct overview_pool *pool, FILE *stream);

/* Writes a line for each source and pool that has units; assembly->lock is held. */
void unit_pages_print_all_locked(const struct overview *overview, FILE *stream);

/* Writes the metrics; assembly->lock is held. */
void unit_pages_metrics_locked(const struct overview *overview, FILE *stream);

#endif
