/* SPDX-License-Identifier: MIT */
/*
 * config/plan_uses.h - compares behaviours with their versions, options and dispatchers.
 *
 * Pools and sources share it; the caller names the kinds of steps.
 */
#ifndef CONFIG_PLAN_USES_H
#define CONFIG_PLAN_USES_H

#include "config/plan_steps.h"

/* The old and the new use of a behaviour, with the settings that they belong to. */
struct plan_uses {
    const struct settings_use *older;
    const struct settings_use *newer;
    enum plan_kind replaced;
    enum plan_kind args;
};

/* Adds the steps from the older to the newer. */
void plan_compare_uses(struct planning *planning, const struct plan_subject *subject,
                       const struct plan_uses *uses);

/* Marks the steps since number `first` that need a new worker or source, if the behaviour is one of
 * which only one may be open, or keeps a state in a file. */
void plan_mark_exclusive(struct planning *planning, const struct plan_uses *uses, size_t first);

/* Adds the steps of the options alone, as `key.NAME`. `replaced`: no option changes live. */
void plan_compare_args(struct planning *planning, const struct plan_subject *subject,
                       const struct plan_uses *uses, const char *key, bool replaced);

#endif
