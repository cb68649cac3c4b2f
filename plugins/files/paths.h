/*
 * paths.h - the rules for the options `paths` and `position` of both sources.
 *
 * For `check`: the rules concern the words of the options, not the files, which may be on another
 * machine. Any thread.
 */
#ifndef PATHS_H
#define PATHS_H

#include <weir/plugin.h>

/* Reports an empty path, and a `position` (NULL: none) that no file can have, or that is one of the
 * files to read. Borrows. */
void paths_check(const struct weir_list *paths, const char *position, struct weir_report *report);

#endif
