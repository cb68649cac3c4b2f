/* SPDX-License-Identifier: MIT */
/*
 * config/named_pools.h - checks that each option that names a pool names an existing one.
 *
 * Runs when every pool and every source is known.
 */
#ifndef CONFIG_NAMED_POOLS_H
#define CONFIG_NAMED_POOLS_H

#include "config/checking.h"

/* Checks the options of kind WEIR_POOL, and the maps of pools, of all behaviours. Records mistakes
 * in `checking`, and which pools are named; WEIR_ENOMEM. */
int named_pools_check(struct checking *checking);

#endif
