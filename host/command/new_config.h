/* SPDX-License-Identifier: MIT */
/*
 * command/new_config.h - `weir new config FILE BEHAVIOUR...`: a file with every option of these
 * behaviours.
 */
#ifndef HOST_COMMAND_NEW_CONFIG_H
#define HOST_COMMAND_NEW_CONFIG_H

#include "host/command/command.h"
#include "host/plugin/plugin_path.h"

/* Writes `file`, which must not exist; `names` are PLUGIN.BEHAVIOUR. The first `given` folders of
 * the path become `host.plugins`. Returns an exit code. */
int new_config(const struct invocation *invocation, struct plugin_path *path, size_t given,
               const char *file, char *const *names, size_t count);

#endif
