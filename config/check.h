/* SPDX-License-Identifier: MIT */
/*
 * config/check.h - checks a whole file: makes settings from a tree, or reports every mistake.
 *
 * `weir check`, the start and every reload call this one function, so they agree.
 */
#ifndef CONFIG_CHECK_H
#define CONFIG_CHECK_H

#include "config/catalogue.h"
#include "config/reader.h"
#include "config/settings.h"

/*
 * Checks `tree` against the language and the behaviours of `catalogue`, which must outlive the
 * settings. `auto` and missing sizes mean `effective_cpus`, which is at least 1.
 *
 * 0 and settings (returned owned; warnings may have been reported), or WEIR_EINVALID with every
 * mistake in `report`, or WEIR_ENOMEM. Borrows the tree until it returns.
 */
int config_check(const struct config_tree *tree, const struct catalogue *catalogue,
                 uint32_t effective_cpus, struct report *report, struct settings **out_settings);

#endif
