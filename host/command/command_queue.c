/* SPDX-License-Identifier: MIT */
/*
 * `weir queue FILE ACTION`: looks at the pieces of queues on the disk; replays or deletes them.
 *
 * Only the plugin queue links SQLite. So this part checks the arguments, and then becomes the
 * program weir-queue, which is installed beside the plugin.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/text.h"
#include "host/command/command.h"
#include "host/plugin/plugin_path.h"
#include "host/plugin/trust.h"

#define PLUGIN "queue"
#define PROGRAM "weir-queue" /* plugins/queue/command/main.c has its arguments */
#define FIXED 7              /* arguments before those of the action */

#define LETTER_QUEUE 'q'
#define LETTER_STATE 's'
#define LETTER_ALL 'a'
#define LETTER_OUTPUT 'o'
#define LETTER_PLUGINS 'p'

/* What may follow an action. */
enum follows {
    NOTHING = 0,
    MAY_NUMBERS = 1, /* none or more */
    NEEDS_NUMBERS = 2,
    NEEDS_SOME = 4,   /* numbers, or --all */
    NEEDS_FILE = 8,   /* one */
    TAKES_QUEUE = 16, /* --queue */
    TAKES_STATE = 32,
};

static const struct action {
    const char *name;
    unsigned follows; /* enum follows */
} actions[] = {
    { "list", TAKES_QUEUE | TAKES_STATE },
    { "show", NEEDS_NUMBERS },
    { "dead", TAKES_QUEUE },
    { "replay", NEEDS_SOME | TAKES_QUEUE },
    { "delete", NEEDS_SOME | TAKES_QUEUE },
    { "export", MAY_NUMBERS | TAKES_QUEUE | TAKES_STATE },
    { "stats", TAKES_QUEUE },
    { "backup", NEEDS_FILE },
    { "check", NOTHING },
};

/* The parsed arguments. */
struct request {
    const struct invocation *invocation;
    struct plugin_path path;
    const char *queue, *state; /* NULL: not given */
    bool is_all, is_json;
    const struct action *action;
};

static int take_output(struct request *request, const char *argument)
{
    request->is_json = strcmp(argument, "json") == 0;
    if (request->is_json || strcmp(argument, "text") == 0)
        return COMMAND_GO_ON;
    return command_usage_error(request->invocation, "--output is text or json");
}

static int take_state(struct request *request, const char *argument)
{
    request->state = argument;
    if (strcmp(argument, "ready") == 0 || strcmp(argument, "later") == 0 ||
        strcmp(argument, "dead") == 0)
        return COMMAND_GO_ON;
    return command_usage_error(request->invocation, "--state is ready, later or dead");
}

static int take(void *context, char letter, const char *argument)
{
    struct request *request = context;

    switch (letter) {
    case LETTER_QUEUE:
        request->queue = argument;
        return COMMAND_GO_ON;
    case LETTER_STATE:
        return take_state(request, argument);
    case LETTER_ALL:
        request->is_all = true;
        return COMMAND_GO_ON;
    case LETTER_OUTPUT:
        return take_output(request, argument);
    default:
        return plugin_path_add(&request->path, argument) == WEIR_OK ? COMMAND_GO_ON : EX_SOFTWARE;
    }
}

static int find_action(struct request *request, const char *name)
{
    struct text_guess guess;

    text_guess_init(&guess, name);
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
        if (strcmp(actions[i].name, name) == 0)
            request->action = &actions[i];
        text_guess_offer(&guess, actions[i].name);
    }
    if (request->action)
        return COMMAND_GO_ON;
    if (text_guess_best(&guess))
        return command_usage_error(request->invocation, "there is no action %s; did you mean %s?",
                                   name, text_guess_best(&guess));
    return command_usage_error(request->invocation, "there is no action %s", name);
}

static int check_options(const struct request *request)
{
    const struct action *action = request->action;

    if (request->queue && !(action->follows & TAKES_QUEUE))
        return command_usage_error(request->invocation, "--queue is not for %s", action->name);
    if (request->queue && (!request->queue[0] || strcmp(request->queue, "-") == 0))
        return command_usage_error(request->invocation, "--queue needs the name of a queue");
    if (request->state && !(action->follows & TAKES_STATE))
        return command_usage_error(request->invocation, "--state is not for %s", action->name);
    if (request->is_all && !(action->follows & NEEDS_SOME))
        return command_usage_error(request->invocation, "--all is not for %s", action->name);
    return COMMAND_GO_ON;
}

/* `count` arguments follow the action. */
static int check_arguments(const struct request *request, int count)
{
    const struct invocation *invocation = request->invocation;
    const struct action *action = request->action;
    const unsigned numbers = MAY_NUMBERS | NEEDS_NUMBERS | NEEDS_SOME;

    if (action->follows & NEEDS_FILE)
        return count == 1 ? COMMAND_GO_ON
                          : command_usage_error(invocation, "%s needs one file", action->name);
    if ((action->follows & NEEDS_SOME) && request->is_all == (count > 0))
        return command_usage_error(invocation, "%s needs numbers of pieces, or --all",
                                   action->name);
    if ((action->follows & NEEDS_NUMBERS) && count == 0)
        return command_usage_error(invocation, "%s needs numbers of pieces", action->name);
    if (!(action->follows & numbers) && count > 0)
        return command_usage_error(invocation, "%s takes nothing more", action->name);
    if (count > 0 && (request->queue || request->state))
        return command_usage_error(invocation, "takes numbers, or --queue and --state");
    return COMMAND_GO_ON;
}

/* The program beside the plugin; owned. NULL: printed why. */
static char *find_program(struct request *request, int *out_code)
{
    struct problem problem;
    char *plugin = NULL, *program = NULL, *slash;
    FILE *err = request->invocation->err;

    *out_code = EX_SOFTWARE;
    if (plugin_path_add_defaults(&request->path) == WEIR_OK)
        plugin = plugin_path_find(&request->path, PLUGIN, &problem);
    if (!plugin) {
        fprintf(err, "error: %s; the plugin and " PROGRAM " are one package\n", problem.text);
        *out_code = EX_OSFILE;
        return NULL;
    }
    slash = strrchr(plugin, '/');
    if (asprintf(&program, "%.*s/" PROGRAM, (int)(slash ? slash - plugin : 1),
                 slash ? plugin : ".") < 0)
        program = NULL;
    free(plugin);
    if (program && access(program, F_OK) < 0) {
        fprintf(err, "error: %s: %s; the plugin and " PROGRAM " are one package\n", program,
                strerror(errno));
        *out_code = EX_OSFILE;
        free(program);
        return NULL;
    }
    if (program && trust_check(program, &problem) != WEIR_OK) {
        fprintf(err, "error: %s\n", problem.text);
        *out_code = EX_NOPERM;
        free(program);
        return NULL;
    }
    return program;
}

/* Returns only when it has failed. */
static int become(const struct request *request, const char *program, const char *file,
                  char **arguments, int count)
{
    const struct invocation *invocation = request->invocation;
    char **argv = calloc((size_t)count + FIXED + 1, sizeof *argv);
    const char *fixed[FIXED] = { PROGRAM,
                                 request->action->name,
                                 file,
                                 request->is_json ? "json" : "text",
                                 request->state ? request->state : "-",
                                 request->queue ? request->queue : "-",
                                 request->is_all ? "all" : "-" };

    if (!argv)
        return EX_SOFTWARE;
    memcpy(argv, fixed, sizeof fixed);
    memcpy(argv + FIXED, arguments, (size_t)count * sizeof *argv);
    fflush(invocation->out);
    fflush(invocation->err);
    execv(program, argv);
    fprintf(invocation->err, "error: %s: %s\n", program, strerror(errno));
    free(argv);
    return EX_OSFILE;
}

static int carry_out(struct request *request, int first)
{
    const struct invocation *invocation = request->invocation;
    int count = invocation->argc - first - 2, code;
    char *program;

    if (count < 0)
        return command_usage_error(invocation, "takes a file and an action");
    code = find_action(request, invocation->argv[first + 1]);
    if (code == COMMAND_GO_ON)
        code = check_options(request);
    if (code == COMMAND_GO_ON)
        code = check_arguments(request, count);
    if (code != COMMAND_GO_ON)
        return code;
    program = find_program(request, &code);
    if (program)
        code = become(request, program, invocation->argv[first], invocation->argv + first + 2,
                      count);
    free(program);
    return code;
}

static int run(const struct invocation *invocation)
{
    struct request request = { .invocation = invocation };
    int first, code;

    plugin_path_init(&request.path);
    code = command_parse(invocation, take, &request, &first);
    if (code == COMMAND_GO_ON)
        code = carry_out(&request, first);
    plugin_path_finish(&request.path);
    return code;
}

static const struct command_option options[] = {
    { "queue", LETTER_QUEUE, "NAME", "only pieces of this queue" },
    { "state", LETTER_STATE, "STATE", "only pieces that are ready, later or dead" },
    { "all", LETTER_ALL, NULL, "of replay and delete: all dead pieces" },
    { "output", LETTER_OUTPUT, "FORMAT", "text or json" },
    { "plugins", LETTER_PLUGINS, "DIR", "look for the plugin queue in DIR first" },
    { NULL, 0, NULL, NULL },
};

const struct command command_queue = {
    .name = "queue",
    .arguments = "FILE ACTION [NUMBER...]",
    .summary = "look at a queue on the disk; replay or delete its pieces",
    .details =
        "FILE is the `file` of queue.put and queue.take. ACTION is one of these:\n"
        "list               the pieces: ready, later (they wait for a retry or a time), or dead\n"
        "dead               the dead pieces, each with its reason\n"
        "show NUMBER...     all about these pieces, with the start of the payload\n"
        "replay NUMBER...   dead pieces are ready again, as the first attempt; or --all\n"
        "delete NUMBER...   pieces that are not in hand; --all deletes the dead ones\n"
        "export [NUMBER...] pieces with their payloads, one JSON object in a line\n"
        "stats              numbers of pieces, bytes, and the process that has the file\n"
        "backup TO          a copy of this moment, in the new file TO\n"
        "check              reads the whole file for damage\n"
        "A host may have the file. replay and delete ask this host by the socket FILE.sock; "
        "without\n"
        "a host they lock the file meanwhile. All others only read.\n"
        "Exit code: 0; 65 a piece does not exist, is in hand or is not dead, or the file is\n"
        "wrong; 66 no such file or queue; 70 memory is out; 72 the plugin is not installed;\n"
        "73 TO cannot be made; 74 a disk fails or is full; 75 a process has the file and does\n"
        "not answer, or nobody knows whether it is done; 77 not permitted.\n",
    .options = options,
    .run = run,
};
