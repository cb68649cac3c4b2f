/* SPDX-License-Identifier: MIT */
/*
 * config/meetings.h - checks that a name by which behaviours meet, such as that of a queue, is
 * known to two behaviours of the file.
 *
 * Runs when every pool and every source is known.
 */
#ifndef CONFIG_MEETINGS_H
#define CONFIG_MEETINGS_H

#include "config/checking.h"

/* Warns of each option with `meets` whose text no other behaviour of the same plugin has in an
 * option of the same name. WEIR_ENOMEM. */
int meetings_check(struct checking *checking);

#endif
