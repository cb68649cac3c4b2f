/* SPDX-License-Identifier: MIT */
/* `weir plan FILE`: prints the plan of a reload to FILE, from a running host or from another
 * file. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "config/plan.h"
#include "host/command/control_client.h"
#include "host/control/http.h"
#include "host/reload/configuration.h"

#define LETTER_FROM 'f'

/* The parsed arguments. */
struct request {
    const struct invocation *invocation;
    struct control_client client;
    const char *from;
};

static int take(void *context, char letter, const char *argument)
{
    struct request *request = context;

    if (letter != LETTER_FROM)
        return control_client_take(&request->client, letter, argument);
    request->from = argument;
    return COMMAND_GO_ON;
}

static int read_settings(const struct request *request, struct configuration *configuration,
                         const char *file, struct settings **out_settings)
{
    struct report report;
    int status;

    report_init(&report);
    status = configuration_read(configuration, file, NULL, &report, out_settings);
    configuration_print(&report, request->invocation->err);
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

/* Reads both files, so that the mistakes of both are printed together. */
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

static int plan_from(const struct request *request, const char *file)
{
    struct configuration configuration;
    int code;

    if (configuration_init(&configuration, request->invocation->program) != WEIR_OK)
        return EX_SOFTWARE;
    code = plan_files(request, &configuration, file);
    configuration_finish(&configuration);
    return code;
}

static char *target_of(const struct request *request, const char *absolute)
{
    char *target = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&target, &size);

    if (!stream)
        return NULL;
    fputs("/plan?file=", stream);
    http_write_escaped(stream, absolute);
    if (request->invocation->colour)
        fputs("&colour=yes", stream);
    return fclose(stream) == 0 ? target : NULL;
}

/* Sends an absolute path: the host reads the file itself, perhaps from another directory. */
static int ask_host(const struct request *request, const char *file)
{
    char *absolute = realpath(file, NULL);
    char *target = absolute ? target_of(request, absolute) : NULL;
    int code = EX_SOFTWARE;

    if (!absolute) {
        fprintf(request->invocation->err, "%s: cannot be opened: %s\n", file, strerror(errno));
        code = EX_NOINPUT;
    } else if (target) {
        code = control_client_ask(&request->client, false, target, 0);
    }
    free(target);
    free(absolute);
    return code;
}

static int run(const struct invocation *invocation)
{
    struct request request = { .invocation = invocation, .client = { .invocation = invocation } };
    int first;
    int code = command_parse(invocation, take, &request, &first);

    if (code != COMMAND_GO_ON)
        return code;
    if (invocation->argc - first != 1)
        return command_usage_error(invocation, "takes one file");
    if (request.from && request.client.json)
        return command_usage_error(invocation, "--output json is for a plan of a running host");
    request.client.fallback = invocation->argv[first];
    return request.from ? plan_from(&request, invocation->argv[first])
                        : ask_host(&request, invocation->argv[first]);
}

static const struct command_option options[] = {
    { "from", LETTER_FROM, "OLD", "the file to start from; without it, the running host" },
    CONTROL_CLIENT_OPTION_CONTROL,
    CONTROL_CLIENT_OPTION_OUTPUT,
    { NULL, 0, NULL, NULL },
};

const struct command command_plan = {
    .name = "plan",
    .arguments = "FILE",
    .summary = "print what a reload to FILE would do, step by step",
    .details =
        "Exit code: 0 a plan was printed, also an empty one; 66 a file cannot be opened; 78 a\n"
        "file has mistakes. With a running host:\n" CONTROL_CLIENT_CODES,
    .options = options,
    .run = run,
};
