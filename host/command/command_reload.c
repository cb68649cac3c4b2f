/* SPDX-License-Identifier: MIT */
/* `weir reload`: reloads the file of a running host, and waits for the result. */
#include <sysexits.h>

#include "host/command/control_client.h"

#define LETTER_WAIT 'w'

/* The parsed arguments. */
struct request {
    struct control_client client;
    bool waits;
};

static int take(void *context, char letter, const char *argument)
{
    struct request *request = context;

    if (letter != LETTER_WAIT)
        return control_client_take(&request->client, letter, argument);
    request->waits = true;
    return COMMAND_GO_ON;
}

static const char *target_of(const struct request *request)
{
    if (request->client.invocation->colour)
        return request->waits ? "/reload?colour=yes&wait=yes" : "/reload?colour=yes";
    return request->waits ? "/reload?wait=yes" : "/reload";
}

static int run(const struct invocation *invocation)
{
    struct request request = { .client = { .invocation = invocation } };
    int first;
    int code = command_parse(invocation, take, &request, &first);

    if (code != COMMAND_GO_ON)
        return code;
    if (first < invocation->argc)
        return command_usage_error(invocation, "takes no argument");
    /* No time-out: the host limits how long workers may take to open and to end. */
    return control_client_ask(&request.client, true, target_of(&request), 0);
}

static const struct command_option options[] = {
    CONTROL_CLIENT_OPTIONS,
    { "wait", LETTER_WAIT, NULL, "wait until the removed pools and sources have ended, too" },
    { NULL, 0, NULL, NULL },
};

const struct command command_reload = {
    .name = "reload",
    .arguments = "",
    .summary = "make a running host reload its file; print what changed, or the errors",
    .details =
        "The answer comes when the file is in force. Removed pools and sources finish their\n"
        "messages after that, at most for their `remove.timeout`; `weir status` names them.\n"
        "Exit code: 0 the file is in force; 78 the file has mistakes, and nothing has "
        "changed;\n" CONTROL_CLIENT_CODES,
    .options = options,
    .run = run,
};
