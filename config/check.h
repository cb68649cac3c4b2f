/*
 * config/check.h - the whole check of a file: from a tree to settings, or to all that is wrong.
 *
 * `weir check`, the start and every reload use this one function, so their verdicts are one.
 */
#ifndef CONFIG_CHECK_H
#define CONFIG_CHECK_H

#include "config/catalogue.h"
#include "config/reader.h"
#include "config/settings.h"

/*
 * Checks `tree` against the language and the behaviours of `catalogue`, which must outlive the
 * settings. `effective_cpus` (at least 1) is what `auto` and missing sizes stand for.
 *
 * 0 and settings (returned owned; warnings may have been reported), or WEIR_EINVALID with every
 * mistake in `report`, or WEIR_ENOMEM. Borrows the tree until it returns.
 */
int config_check(const struct config_tree *tree, const struct catalogue *catalogue,
                 uint32_t effective_cpus, struct report *report, struct settings **out_settings);

/* The number of threads of `threads: auto`: at least 2, and within the bounds of the key. */
uint32_t config_threads_auto(uint32_t effective_cpus);

#endif
