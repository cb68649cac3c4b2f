/* SPDX-License-Identifier: MIT */
/*
 * config/feeds.h - checks the pool that a source feeds: it needs workers, and keys when it routes
 * by hash.
 */
#ifndef CONFIG_FEEDS_H
#define CONFIG_FEEDS_H

#include "config/checking.h"

/* Reports the mistakes of each source. Call it after pools and sources were read. WEIR_ENOMEM. */
int feeds_check(struct checking *checking);

#endif
