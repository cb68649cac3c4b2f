/* SPDX-License-Identifier: MIT */
/*
 * config/pools.h - reads the section `pools` into a flat list of pools, each with its settings.
 */
#ifndef CONFIG_POOLS_H
#define CONFIG_POOLS_H

#include "config/checking.h"

/*
 * Reads all pools into the settings, parents before members, in the order of the file; copies of a
 * template are written out. The targets of outputs are read later, when every pool is known.
 * Records mistakes in `checking`; WEIR_ENOMEM.
 */
int pools_read(struct checking *checking);

#endif
