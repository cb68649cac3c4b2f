/* SPDX-License-Identifier: MIT */
/* `weir version`, `weir --version`: prints the version of weir and of its libraries. */
#include <sysexits.h>

#include <uv.h>
#include <weir/plugin.h>
#include <yaml.h>

#include "host/command/command.h"

#ifndef WEIR_VERSION
#error "the build gives WEIR_VERSION, from the project's version"
#endif

static int refuse(void *context, char letter, const char *argument)
{
    (void)context;
    (void)letter;
    (void)argument;
    return EX_USAGE;
}

static int run(const struct invocation *invocation)
{
    int first;
    int status = command_parse(invocation, refuse, NULL, &first);

    if (status != COMMAND_GO_ON)
        return status;
    if (first < invocation->argc)
        return command_usage_error(invocation, "takes no argument");
    fprintf(invocation->out, "weir %s\nSDK %d.%d\nlibyaml %s\nlibuv %s\n", WEIR_VERSION,
            WEIR_ABI_MAJOR, WEIR_ABI_MINOR, yaml_get_version_string(), uv_version_string());
    return EX_OK;
}

const struct command command_version = {
    .name = "version",
    .arguments = "",
    .summary = "print the versions of weir, its SDK and its libraries",
    .run = run,
};
