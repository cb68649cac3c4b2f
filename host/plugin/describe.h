/* SPDX-License-Identifier: MIT */
/*
 * plugin/describe.h - describes a plugin from its own tables, for `weir describe`.
 *
 * Pure except for the stream. Defaults of secret options are not printed.
 */
#ifndef HOST_PLUGIN_DESCRIBE_H
#define HOST_PLUGIN_DESCRIBE_H

#include <stdio.h>

#include "host/plugin/loader.h"

/* Prints the plugin and all of its behaviours, or only the behaviour `only`. Borrows. */
void describe_plugin(FILE *out, const struct loaded *loaded, const struct weir_behaviour *only);

/* Writes the values of an option, such as `integer 1..1000, default 1`, to `buffer`. */
void describe_option(char *buffer, size_t size, const struct weir_option *option);

#endif
