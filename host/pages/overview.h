/* SPDX-License-Identifier: MIT */
/*
 * pages/overview.h - the pages with the figures of the running host.
 *
 * Each page is written twice: as a table for people, as JSON for programs. Pages hold the
 * assembly's lock while they look, and nothing while they are sent. Any thread but the
 * supervisor's.
 */
#ifndef HOST_PAGES_OVERVIEW_H
#define HOST_PAGES_OVERVIEW_H

#include "host/pages/overview_figures.h"

/* Writes the host, its sources, its pools. */
void overview_status(const struct overview *overview, bool for_people, FILE *stream);

/* All pools. */
void overview_pools(const struct overview *overview, bool for_people, FILE *stream);

/* Writes one pool; false: there is none of that path, and nothing was written. */
bool overview_pool(const struct overview *overview, const char *path, bool for_people,
                   FILE *stream);

#endif
