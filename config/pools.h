/*
 * config/pools.h - the section `pools`: nested pools written out flat, each with its settings.
 */
#ifndef CONFIG_POOLS_H
#define CONFIG_POOLS_H

#include "config/checking.h"

/*
 * Reads all pools into the settings, parents before members, in order of the file; copies of a
 * template written out. Where outputs lead is read later, when every pool is known. Mistakes are
 * noted in `checking`; WEIR_ENOMEM.
 */
int pools_read(struct checking *checking);

#endif
