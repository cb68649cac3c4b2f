/* SPDX-License-Identifier: MIT */
/* `weir restart POOL` and `weir restart 'POOL#3'`: give workers a new incarnation. */
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "host/command/control_client.h"

#define LETTER_NOW 'n'

/* The parsed arguments. */
struct request {
    struct control_client client;
    bool now;
};

static int take(void *context, char letter, const char *argument)
{
    struct request *request = context;

    if (letter != LETTER_NOW)
        return control_client_take(&request->client, letter, argument);
    request->now = true;
    return COMMAND_GO_ON;
}

static int run(const struct invocation *invocation)
{
    struct request request = { .client = { .invocation = invocation } };
    int first;
    int code = command_parse(invocation, take, &request, &first);
    char *target;

    if (code != COMMAND_GO_ON)
        return code;
    if (invocation->argc - first != 1)
        return command_usage_error(invocation, "takes one pool, or one worker");
    if (request.now && !strchr(invocation->argv[first], '#'))
        return command_usage_error(invocation, "--now takes one worker, such as '%s#0'",
                                   invocation->argv[first]);
    target = control_client_target("/pools/", invocation->argv[first],
                                   request.now ? "/restart?now=1" : "/restart");
    /* No time-out: the host limits how long workers may take to settle the messages that they
     * keep. */
    code = target ? control_client_ask(&request.client, true, target, 0) : COMMAND_FAILED;
    free(target);
    return code;
}

static const struct command_option options[] = {
    CONTROL_CLIENT_OPTIONS,
    { "now", LETTER_NOW, NULL, "kill the process of the worker first" },
    { NULL, 0, NULL, NULL },
};

const struct command command_restart = {
    .name = "restart",
    .arguments = "POOL|WORKER",
    .summary = "restart the workers of a running pool and of its nested pools, or one worker",
    .details =
        "WORKER is a pool and a number, such as 'images#3': quote it, since # begins a comment of\n"
        "the shell. Each worker ends after its message in hand, when it has settled the messages\n"
        "that it keeps, and opens again in its place. Mailboxes stay: no message is lost. A "
        "worker\n"
        "that takes longer than `remove.timeout` of its pool is not restarted. With --now the\n"
        "process that the worker has named, such as the child of exec.pipe, is killed; the "
        "message\n"
        "in hand fares as after any crash of that process. A worker without one that is stuck in\n"
        "`handle` is left behind: its messages in hand are dead `stuck`, a new worker gets those\n"
        "that wait, and the thread stays in its callback.\n"
        "Exit code: 0; 65 not all workers have been restarted, or it cannot be done; 66 no such "
        "pool\n"
        "or worker;\n" CONTROL_CLIENT_CODES,
    .options = options,
    .run = run,
};
