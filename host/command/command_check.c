/* SPDX-License-Identifier: MIT */
/* `weir check FILE...`: reports every mistake of a file or a plugin without running it. */
#include <inttypes.h>
#include <sysexits.h>

#include "base/plural.h"
#include "host/command/command.h"
#include "host/isolation/sandbox_check.h"
#include "host/reload/configuration.h"

/* The parsed arguments. */
struct request {
    const struct invocation *invocation;
    struct configuration configuration;
    bool plugins;   /* the files are plugins */
    bool is_strict; /* a warning is a mistake */
};

static int take(void *context, char letter, const char *argument)
{
    struct request *request = context;

    (void)argument;
    request->plugins |= letter == 'p';
    request->is_strict |= letter == 's';
    return COMMAND_GO_ON;
}

static void print_counts(const struct request *request, const char *file,
                         const struct settings *settings)
{
    uint64_t workers = settings_worker_count(settings);

    fprintf(request->invocation->out, "%s: ok (%" PRIu32 " %s, %" PRIu32 " %s, %" PRIu64 " %s)\n",
            file, settings->pool_count, plural(settings->pool_count, "pool", "pools"),
            settings->source_count, plural(settings->source_count, "source", "sources"), workers,
            plural(workers, "worker", "workers"));
}

static int check_file(struct request *request, const char *file)
{
    struct settings *settings = NULL;
    struct report report;
    int status;

    report_init(&report);
    status = configuration_read(&request->configuration, file, NULL, &report, &settings);
    if (status == WEIR_OK)
        status = sandbox_check(settings, &report);
    configuration_print(&report, request->invocation->err);
    if (request->is_strict && status == WEIR_OK && report_warning_count(&report) > 0)
        status = WEIR_EINVALID;
    if (status == WEIR_OK)
        print_counts(request, file, settings);
    settings_destroy(settings);
    report_finish(&report);
    return configuration_exit_code(status);
}

static int check_plugin(struct request *request, const char *file)
{
    const struct loaded *loaded;
    struct problem problem;
    int status = loader_load_file(request->configuration.loader, file, &loaded, &problem);

    if (status != WEIR_OK) {
        fprintf(request->invocation->err, "%s\n", problem.text);
        return configuration_exit_code(status);
    }
    fprintf(request->invocation->out, "%s: ok (%s %s, %zu %s)\n", file, loaded->descriptor.name,
            loaded->descriptor.version, loaded->descriptor.behaviour_count,
            plural(loaded->descriptor.behaviour_count, "behaviour", "behaviours"));
    return EX_OK;
}

/* Checks all files; returns the code of the first wrong one. */
static int check_all(struct request *request, int first)
{
    int code = EX_OK;

    for (int i = first; i < request->invocation->argc; i++) {
        const char *file = request->invocation->argv[i];
        int found = request->plugins ? check_plugin(request, file) : check_file(request, file);

        if (code == EX_OK)
            code = found;
    }
    return code;
}

static int run(const struct invocation *invocation)
{
    struct request request = { .invocation = invocation };
    int first;
    int code = command_parse(invocation, take, &request, &first);

    if (code != COMMAND_GO_ON)
        return code;
    if (first == invocation->argc)
        return command_usage_error(invocation, "needs a file");
    if (configuration_init(&request.configuration, invocation->program) != WEIR_OK)
        return EX_SOFTWARE;
    code = check_all(&request, first);
    configuration_finish(&request.configuration);
    return code;
}

static const struct command_option options[] = {
    { "plugin", 'p', NULL, "the files are plugins (NAME.so), not configurations" },
    { "strict", 's', NULL, "a warning is a mistake, too: exit code 78" },
    { NULL, 0, NULL, NULL },
};

const struct command command_check = {
    .name = "check",
    .arguments = "FILE...",
    .summary = "print every mistake of a file, without running it",
    .details = "Errors are lines on standard error: FILE:LINE:COLUMN: PATH: REASON.\n"
               "Warnings are such lines with `warning:`; the host runs such a file.\n"
               "Exit code: 0 no mistakes; 66 a file cannot be opened; 78 a file has mistakes.\n",
    .options = options,
    .run = run,
};
