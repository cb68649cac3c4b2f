/* SPDX-License-Identifier: MIT */
/* `weir pause POOL`, `weir resume POOL`: stop and start the intake of a running pool. */
#include "host/command/control_client.h"

static int run(const struct invocation *invocation)
{
    struct control_client client = { .invocation = invocation };
    int first;
    int code = control_client_parse(&client, &first);
    char after[sizeof "/resume"];

    if (code != COMMAND_GO_ON)
        return code;
    if (invocation->argc - first != 1)
        return command_usage_error(invocation, "takes one pool");
    (void)snprintf(after, sizeof after, "/%s", invocation->command->name);
    return control_client_ask_of(&client, true, "/pools/", invocation->argv[first], after);
}

static const struct command_option options[] = {
    CONTROL_CLIENT_OPTIONS,
    { NULL, 0, NULL, NULL },
};

const struct command command_pause = {
    .name = "pause",
    .arguments = "POOL",
    .summary = "make a running pool refuse every message until it is resumed",
    .details = "Its workers finish the accepted messages; its senders wait.\n"
               "Exit code: 0; 66 no such pool;\n" CONTROL_CLIENT_CODES,
    .options = options,
    .run = run,
};

const struct command command_resume = {
    .name = "resume",
    .arguments = "POOL",
    .summary = "make a paused pool accept messages again",
    .details = "Exit code: 0; 66 no such pool;\n" CONTROL_CLIENT_CODES,
    .options = options,
    .run = run,
};
