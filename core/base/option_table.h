/*
 * base/option_table.h - is a table of options itself right? Asked once, when a plugin is loaded.
 */
#ifndef BASE_OPTION_TABLE_H
#define BASE_OPTION_TABLE_H

#include <weir/option.h>

/*
 * Checks a plugin's table itself: unique names, known kinds, every field inside the struct, aligned
 * and overlapping no other, min <= max, defaults that parse, choices for enums. 0, or WEIR_EINVALID
 * and one sentence in `why` (cut at why_size), or WEIR_ENOMEM.
 */
int options_check_table(const struct weir_option *table, size_t settings_size, char *why,
                        size_t why_size);

#endif
