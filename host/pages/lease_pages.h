/* SPDX-License-Identifier: MIT */
/*
 * pages/lease_pages.h - the figures of leases of pools, on the pages and as metrics.
 */
#ifndef HOST_PAGES_LEASE_PAGES_H
#define HOST_PAGES_LEASE_PAGES_H

#include <stdio.h>

#include "host/pages/overview_figures.h"

struct json;

/* Writes the figures into the open object. */
void lease_pages_json(const struct overview_pool *pool, struct json *json);

/* Writes the lines for people; none for a pool that gives no leases. */
void lease_pages_print(const struct overview_pool *pool, FILE *stream);

/* Writes the metrics of those of the pools that give leases. */
void lease_pages_metrics(const struct overview_pool *pools, uint32_t count, FILE *stream);

#endif
