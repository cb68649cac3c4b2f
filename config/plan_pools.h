/* SPDX-License-Identifier: MIT */
/*
 * config/plan_pools.h - the steps of a plan for pools: added, removed, changed.
 */
#ifndef CONFIG_PLAN_POOLS_H
#define CONFIG_PLAN_POOLS_H

#include "config/plan_steps.h"

/* Adds the steps of all pools: those of the new file in its order, then the removed ones. */
void plan_pools(struct planning *planning);

#endif
