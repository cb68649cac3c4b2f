/* SPDX-License-Identifier: MIT */
/*
 * pages/process_pages.h - figures of the processes that work for the workers of a pool.
 */
#ifndef HOST_PAGES_PROCESS_PAGES_H
#define HOST_PAGES_PROCESS_PAGES_H

#include <stdio.h>

#include "host/pages/overview.h"

/* Writes samples for each pool whose workers have processes now. assembly->lock is held. */
void process_pages_metrics_locked(const struct overview *overview, FILE *stream);

#endif
