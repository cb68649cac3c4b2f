/* `weir plan FILE --from OLD`: what a reload from one file to another would do. */
#include <sysexits.h>

#include "config/plan.h"
#include "host/command.h"
#include "host/configuration.h"

/* What the arguments say. */
struct request {
    const struct invocation *invocation;
    const char *from;
};

static int take(void *context, char letter, const char *argument)
{
    struct request *request = context;

    (void)letter;
    request->from = argument;
    return COMMAND_GO_ON;
}

static int read_settings(const struct request *request, struct configuration *configuration,
                         const char *file, struct settings **out_settings)
{
    struct report report;
    int status;

    report_init(&report);
    status = configuration_read(configuration, file, &report, out_settings);
    configuration_tell(&report, request->invocation->err);
    report_finish(&report);
    return configuration_exit_code(status);
}

static int print_plan(const struct request *request, const struct settings *from,
                      const struct settings *to)
{
    struct plan *plan;

    if (plan_create(from, to, &plan) != WEIR_OK)
        return EX_SOFTWARE;
    plan_print(plan, request->invocation->out, request->invocation->colour);
    plan_destroy(plan);
    return EX_OK;
}

/* Both files are read, so that all that is wrong is told at once. */
static int plan_files(const struct request *request, struct configuration *configuration,
                      const char *file)
{
    struct settings *from = NULL, *to = NULL;
    int from_code = read_settings(request, configuration, request->from, &from);
    int to_code = read_settings(request, configuration, file, &to);
    int code = to_code != EX_OK ? to_code : from_code;

    if (code == EX_OK)
        code = print_plan(request, from, to);
    settings_destroy(from);
    settings_destroy(to);
    return code;
}

static int run(const struct invocation *invocation)
{
    struct request request = { .invocation = invocation };
    struct configuration configuration;
    int first;
    int code = command_parse(invocation, take, &request, &first);

    if (code != COMMAND_GO_ON)
        return code;
    if (invocation->argc - first != 1)
        return command_usage_error(invocation, "takes one file");
    if (!request.from)
        return command_usage_error(invocation, "needs --from OLD, the file that it starts from");
    if (configuration_init(&configuration, invocation->program) != WEIR_OK)
        return EX_SOFTWARE;
    code = plan_files(&request, &configuration, invocation->argv[first]);
    configuration_finish(&configuration);
    return code;
}

static const struct command_option options[] = {
    { "from", 'f', "OLD", "the file to start from" },
    { NULL, 0, NULL, NULL },
};

const struct command command_plan = {
    .name = "plan",
    .arguments = "FILE",
    .summary = "print what a reload to FILE would do, step by step",
    .details = "Exit code: 0 a plan, also an empty one; 66 a file cannot be opened; 78 a file is "
               "wrong.\n",
    .options = options,
    .run = run,
};
