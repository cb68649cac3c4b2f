/* SPDX-License-Identifier: MIT */
/*
 * config/reached.h - warns of pools that get no messages, of results that get lost, and of a file
 * that does nothing.
 *
 * It knows what stands in the file: docs/guide/outputs.md lists what leads to a pool. A warning
 * that is wrong costs more than one that is missing, so each of these rules errs on that side.
 */
#ifndef CONFIG_REACHED_H
#define CONFIG_REACHED_H

#include "config/checking.h"

/*
 * Runs when everything else of the file is checked; a file with mistakes gets no such warning,
 * since a mistake may hide what leads to a pool. WEIR_ENOMEM.
 */
int reached_check(struct checking *checking);

#endif
