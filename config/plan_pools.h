/*
 * config/plan_pools.h - the part of a plan that is about pools: which come, go and change.
 */
#ifndef CONFIG_PLAN_POOLS_H
#define CONFIG_PLAN_POOLS_H

#include "config/plan_steps.h"

/* Adds the steps of all pools: those of the new file in its order, then those that go. */
void plan_pools(struct planning *planning);

#endif
