/*
 * config/extent.h - how much text a tree holds with aliases written out.
 *
 * An alias costs a letter or two, and what stands for it is copied wherever it stands: a megabyte
 * under ten thousand aliases would be ten gigabytes of settings.
 */
#ifndef CONFIG_EXTENT_H
#define CONFIG_EXTENT_H

#include "config/tree.h"

/*
 * Adds the bytes of all keys and values below `root` to `*used`, at most `max` in all: what is
 * beyond that is reported once, and not looked at. WEIR_EINVALID, WEIR_ENOMEM.
 */
int extent_add(const struct config_node *root, size_t max, size_t *used, struct report *report);

#endif
