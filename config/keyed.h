/* SPDX-License-Identifier: MIT */
/*
 * config/keyed.h - checks that all messages of a key reach the same worker of a behaviour that
 * keeps a state for each key.
 *
 * Runs when every pool is known.
 */
#ifndef CONFIG_KEYED_H
#define CONFIG_KEYED_H

#include "config/checking.h"

/* A pool whose behaviour has WEIR_KEYED needs `route: hash`; so does each pool above it, unless its
 * route is broadcast or it has one member. Records mistakes in `checking`; WEIR_ENOMEM. */
int keyed_check(struct checking *checking);

#endif
