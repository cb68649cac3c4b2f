/* SPDX-License-Identifier: MIT */
/* `weir schema`: prints the language of configuration files, for editors and for people. */
#include <stdlib.h>
#include <sysexits.h>

#include "base/text.h"
#include "config/reference.h"
#include "config/sample.h"
#include "config/schema.h"
#include "host/command/command.h"
#include "host/plugin/loader.h"

/* The parsed arguments. */
struct request {
    const struct invocation *invocation;
    struct plugin_path path;
    const char **plugins; /* owned array of borrowed names */
    size_t plugin_count;
    char form; /* letter of the option that asks for a page; 0 = the schema */
};

/* The behaviours of all plugins on the command line. */
struct gathering {
    struct loader *loader;
    struct text_store store; /* of their names */
    struct schema_use *uses; /* owned */
    size_t count;
};

static int add_plugin(struct request *request, const char *name)
{
    const char **plugins = realloc(request->plugins, (request->plugin_count + 1) * sizeof *plugins);

    if (!plugins)
        return EX_SOFTWARE;
    request->plugins = plugins;
    plugins[request->plugin_count++] = name;
    return COMMAND_GO_ON;
}

static int take(void *context, char letter, const char *argument)
{
    struct request *request = context;

    if (letter == 'p')
        return add_plugin(request, argument);
    if (letter == 'd')
        return plugin_path_add(&request->path, argument) == WEIR_OK ? COMMAND_GO_ON : EX_SOFTWARE;
    if (request->form && request->form != letter)
        return command_usage_error(request->invocation, "prints one thing at a time");
    request->form = letter;
    return COMMAND_GO_ON;
}

/* --- behaviours ------------------------------------------------------------------------------- */

static int add_use(struct gathering *gathering, const struct loaded *loaded,
                   const struct weir_behaviour *behaviour)
{
    struct schema_use *uses = realloc(gathering->uses, (gathering->count + 1) * sizeof *uses);
    const char *use;

    if (!uses)
        return WEIR_ENOMEM;
    gathering->uses = uses;
    use = text_store_format(&gathering->store, "%s.%s", loaded->descriptor.name, behaviour->name);
    if (!use)
        return WEIR_ENOMEM;
    uses[gathering->count++] = (struct schema_use){ use, behaviour };
    return WEIR_OK;
}

static bool has_plugin(const struct gathering *gathering, const struct loaded *loaded)
{
    for (size_t i = 0; i < gathering->count; i++) {
        if (gathering->uses[i].behaviour == loaded->descriptor.behaviours)
            return true;
    }
    return false;
}

static int gather_plugin(struct request *request, struct gathering *gathering, const char *name)
{
    const struct loaded *loaded;
    struct problem problem;
    int status = loader_load_name(gathering->loader, &request->path, name, &loaded, &problem);

    if (status == WEIR_ENOMEM)
        return EX_SOFTWARE;
    if (status != WEIR_OK) {
        fprintf(request->invocation->err, "error: %s\n", problem.text);
        return status == WEIR_EUNKNOWN ? EX_NOINPUT : EX_CONFIG;
    }
    if (has_plugin(gathering, loaded))
        return EX_OK;
    for (size_t i = 0; i < loaded->descriptor.behaviour_count; i++) {
        if (add_use(gathering, loaded, &loaded->descriptor.behaviours[i]) != WEIR_OK)
            return EX_SOFTWARE;
    }
    return EX_OK;
}

static int gather(struct request *request, struct gathering *gathering)
{
    int code = EX_OK;

    if (plugin_path_add_defaults(&request->path) != WEIR_OK ||
        loader_create(request->invocation->program, &gathering->loader) != WEIR_OK)
        return EX_SOFTWARE;
    for (size_t i = 0; i < request->plugin_count && code == EX_OK; i++)
        code = gather_plugin(request, gathering, request->plugins[i]);
    return code;
}

static void release(struct gathering *gathering)
{
    free(gathering->uses);
    text_store_finish(&gathering->store);
    loader_destroy(gathering->loader);
}

/* --- output ----------------------------------------------------------------------------------- */

static int print_schema(struct request *request)
{
    struct gathering gathering = { .loader = NULL };
    int code;

    text_store_init(&gathering.store);
    code = gather(request, &gathering);
    if (code == EX_OK)
        schema_write(request->invocation->out, gathering.uses, gathering.count);
    release(&gathering);
    return code;
}

static int print(struct request *request)
{
    if (!request->form)
        return print_schema(request);
    if (request->plugin_count)
        return command_usage_error(request->invocation, "--plugin is for the schema");
    if (request->form == 's')
        sample_write(request->invocation->out);
    else
        reference_write(request->invocation->out,
                        request->form == 'm' ? PAGE_MARKDOWN : PAGE_MANUAL);
    return EX_OK;
}

static int run(const struct invocation *invocation)
{
    struct request request = { .invocation = invocation };
    int first, code;

    plugin_path_init(&request.path);
    code = command_parse(invocation, take, &request, &first);
    if (code == COMMAND_GO_ON && first < invocation->argc)
        code = command_usage_error(invocation, "takes no argument");
    if (code == COMMAND_GO_ON)
        code = print(&request);
    free(request.plugins);
    plugin_path_finish(&request.path);
    return code;
}

static const struct command_option options[] = {
    { "plugin", 'p', "PLUGIN", "include the args of its behaviours; may be given several times" },
    { "plugins", 'd', "DIR", "look for plugins in DIR first; may be given several times" },
    { "markdown", 'm', NULL, "print the reference of all keys, as Markdown" },
    { "manual", 'r', NULL, "print the same as a manual page: weir.yaml(5)" },
    { "sample", 's', NULL, "print a file with every key, its values and its default" },
    { NULL, 0, NULL, NULL },
};

const struct command command_schema = {
    .name = "schema",
    .arguments = "",
    .summary = "print the JSON Schema of configuration files, for editors",
    .details = "Without --plugin, any args are allowed. An editor with a YAML language server "
               "finds the schema\n"
               "by a first line such as:\n"
               "\n"
               "    # yaml-language-server: $schema=weir.schema.json\n",
    .options = options,
    .run = run,
};
