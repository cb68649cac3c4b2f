/* SPDX-License-Identifier: MIT */
/*
 * plugin/plugin_path.h - the list of directories in which plugins are looked up by name.
 *
 * Life: plugin_path_init .. plugin_path_finish. Not synchronised.
 */
#ifndef HOST_PLUGIN_PLUGIN_PATH_H
#define HOST_PLUGIN_PLUGIN_PATH_H

#include <stdbool.h>
#include <stddef.h>

#include "host/plugin/problem.h"

struct plugin_path {
    char **directories; /* owned */
    size_t count;
    struct plugin_names *names; /* owned: the plugins in them, read after the first miss */
};

void plugin_path_init(struct plugin_path *path);
void plugin_path_finish(struct plugin_path *path);

/* Appends a directory, unless the list has it. WEIR_ENOMEM. */
int plugin_path_add(struct plugin_path *path, const char *directory);

/*
 * Adds the default ones: those of $WEIR_PLUGIN_PATH (separated by colons); beside the program
 * `../plugins` (a build tree) and `../lib/weir/plugins` (a moved installation); and where plugins
 * are installed. WEIR_ENOMEM.
 */
int plugin_path_add_defaults(struct plugin_path *path);

/*
 * The file `NAME.so` in the first directory that has it. Returns owned; NULL with the reason when
 * the name is not allowed (a `/`, a leading dot) or no directory has it.
 */
char *plugin_path_find(struct plugin_path *path, const char *name, struct problem *problem);

/* The name of `NAME.so` in directory `index`, whether it exists or not. Returns owned; NULL: there
 * is no such directory, or memory is out. */
char *plugin_path_file(const struct plugin_path *path, size_t index, const char *name);

/* The names of existing plugins, at most 64, in no order; NULL after the last. Borrowed until the
 * path changes. */
const char *plugin_path_name(struct plugin_path *path, size_t index);

#endif
