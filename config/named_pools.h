/*
 * config/named_pools.h - options that name a pool: whether there is one of that path.
 *
 * Runs when every pool and every source is known.
 */
#ifndef CONFIG_NAMED_POOLS_H
#define CONFIG_NAMED_POOLS_H

#include "config/checking.h"

/* Looks at the options of kind WEIR_POOL of all behaviours. Mistakes are noted in `checking`;
 * WEIR_ENOMEM. */
int named_pools_check(struct checking *checking);

#endif
