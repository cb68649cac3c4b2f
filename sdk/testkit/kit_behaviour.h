/* SPDX-License-Identifier: MIT */
/*
 * kit_behaviour.h - copies a behaviour of a plugin, built with any SDK, into the layout of this
 * kit.
 *
 * Aborts the program when there is no memory. Not synchronised.
 */
#ifndef SDK_TESTKIT_KIT_BEHAVIOUR_H
#define SDK_TESTKIT_KIT_BEHAVIOUR_H

#include <stdio.h>

#include <weir/plugin.h>

/*
 * Fills `out` with a copy of the row and its tables, which are never NULL then. False when the
 * plugin has no behaviour of that name. Names and callbacks stay the plugin's.
 */
bool kit_behaviour_copy(const struct weir_plugin *plugin, const char *name,
                        struct weir_behaviour *out);
/* Prints that the plugin has no behaviour of that name, and which ones it has. */
void kit_behaviour_print_names(const struct weir_plugin *plugin, const char *name, FILE *to);
/* Frees the tables. */
void kit_behaviour_finish(struct weir_behaviour *behaviour);

#endif
