/* SPDX-License-Identifier: MIT */
/*
 * config/reader.h - reads a YAML file into a tree whose keys and values have their position.
 *
 * Reading has three steps: libyaml's events become a tree, within limits that hold for every file;
 * `${...}` is replaced in its values; the files of `include` are added. config/check.h gives the
 * keys their meaning.
 *
 * The caller that read a `struct config_tree` owns it; it does not change after that.
 */
#ifndef CONFIG_READER_H
#define CONFIG_READER_H

#include "base/report.h"
#include "config/source.h"
#include "config/tree.h"

/*
 * Reads `file` and the files that it includes. `source` may be NULL. WEIR_EINVALID after a report,
 * WEIR_EUNKNOWN when the file cannot be opened (reported, too), WEIR_ENOMEM. Returns owned.
 */
int config_read_file(const char *file, const struct config_source *source, struct report *report,
                     struct config_tree **out_tree);

/* As config_read_file, but reads a text in place of the file `name`. */
int config_read_text(const char *name, const char *text, size_t size,
                     const struct config_source *source, struct report *report,
                     struct config_tree **out_tree);

#endif
