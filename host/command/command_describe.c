/* SPDX-License-Identifier: MIT */
/* `weir describe PLUGIN`: describes a plugin from its own tables. */
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "host/command/command.h"
#include "host/plugin/describe.h"

/* The parsed arguments. */
struct request {
    const struct invocation *invocation;
    struct plugin_path path;
    struct loader *loader;
};

static int take(void *context, char letter, const char *argument)
{
    struct request *request = context;

    (void)letter;
    return plugin_path_add(&request->path, argument) == WEIR_OK ? COMMAND_GO_ON : EX_SOFTWARE;
}

static bool is_file(const char *argument)
{
    size_t length = strlen(argument);

    return strchr(argument, '/') || (length > 3 && strcmp(argument + length - 3, ".so") == 0);
}

static int refuse(const struct request *request, int status, const struct problem *problem)
{
    fprintf(request->invocation->err, "error: %s\n", problem->text);
    return status == WEIR_EUNKNOWN ? EX_NOINPUT : EX_CONFIG;
}

static int describe_file(struct request *request, const char *file)
{
    const struct loaded *loaded;
    struct problem problem;
    int status = loader_load_file(request->loader, file, &loaded, &problem);

    if (status != WEIR_OK)
        return refuse(request, status, &problem);
    describe_plugin(request->invocation->out, loaded, NULL);
    return EX_OK;
}

/* `name` is PLUGIN or PLUGIN.BEHAVIOUR; it is cut at the dot. */
static int describe_name(struct request *request, char *name)
{
    char *behaviour = strchr(name, '.');
    const struct weir_behaviour *only = NULL;
    const struct loaded *loaded;
    struct problem problem;
    int status;

    if (behaviour)
        *behaviour++ = '\0';
    status = loader_load_name(request->loader, &request->path, name, &loaded, &problem);
    if (status != WEIR_OK)
        return refuse(request, status, &problem);
    if (behaviour) {
        only = descriptor_find(&loaded->descriptor, behaviour, &problem);
        if (!only)
            return refuse(request, WEIR_EUNKNOWN, &problem);
    }
    describe_plugin(request->invocation->out, loaded, only);
    return EX_OK;
}

static int describe(struct request *request, char *argument)
{
    int code;

    if (plugin_path_add_defaults(&request->path) != WEIR_OK ||
        loader_create(request->invocation->program, &request->loader) != WEIR_OK)
        return EX_SOFTWARE;
    code = is_file(argument) ? describe_file(request, argument) : describe_name(request, argument);
    loader_destroy(request->loader);
    return code;
}

static int run(const struct invocation *invocation)
{
    struct request request = { .invocation = invocation };
    int first, code;

    plugin_path_init(&request.path);
    code = command_parse(invocation, take, &request, &first);
    if (code == COMMAND_GO_ON && invocation->argc - first != 1)
        code = command_usage_error(invocation, "takes one argument, the plugin");
    if (code == COMMAND_GO_ON)
        code = describe(&request, invocation->argv[first]);
    plugin_path_finish(&request.path);
    return code;
}

static const struct command_option options[] = {
    { "plugins", 'p', "DIR", "look for plugins in DIR first; may be given several times" },
    { NULL, 0, NULL, NULL },
};

const struct command command_describe = {
    .name = "describe",
    .arguments = "PLUGIN",
    .summary = "print the behaviours of a plugin, their args and outputs",
    .details =
        "PLUGIN is a name such as `files`, one of its behaviours such as `files.lines`, or a file\n"
        "such as `./build/files.so`.\n",
    .options = options,
    .run = run,
};
