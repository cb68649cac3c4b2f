/* SPDX-License-Identifier: MIT */
/*
 * config/extent.h - measures the text of a tree with aliases written out.
 *
 * An alias takes one or two letters in the file, but its value is copied to each place: one
 * megabyte under ten thousand aliases would become ten gigabytes of settings.
 */
#ifndef CONFIG_EXTENT_H
#define CONFIG_EXTENT_H

#include "config/tree.h"

/*
 * Adds the bytes of all keys and values below `root` to `*used`, at most `max` in all. Reports once
 * that the text is larger than `max`, and stops there. WEIR_EINVALID, WEIR_ENOMEM.
 */
int extent_add(const struct config_node *root, size_t max, size_t *used, struct report *report);

#endif
