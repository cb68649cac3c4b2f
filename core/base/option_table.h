/* SPDX-License-Identifier: MIT */
/*
 * base/option_table.h - checks a plugin's table of options, once, when the plugin is loaded.
 */
#ifndef BASE_OPTION_TABLE_H
#define BASE_OPTION_TABLE_H

#include <weir/option.h>

/*
 * Checks the table: unique names, known kinds, every field inside the struct, aligned and without
 * overlap, min <= max, defaults that parse, choices for enums. 0, or WEIR_EINVALID with a sentence
 * in `why` (truncated at why_size), or WEIR_ENOMEM.
 */
int options_check_table(const struct weir_option *table, size_t settings_size, char *why,
                        size_t why_size);

#endif
