/* `weir status [POOL]`: what a running host does, as a table. */
#include "host/command/control_client.h"

static int run(const struct invocation *invocation)
{
    struct control_client client = { .invocation = invocation };
    int first;
    int code = control_client_parse(&client, &first);

    if (code != COMMAND_GO_ON)
        return code;
    if (invocation->argc - first > 1)
        return command_usage_error(invocation, "takes one pool, or none for the whole host");
    if (first == invocation->argc)
        return control_client_ask(&client, false, "/status", CONTROL_CLIENT_PATIENCE_S);
    return control_client_ask_of(&client, false, "/pools/", invocation->argv[first], "");
}

static const struct command_option options[] = {
    CONTROL_CLIENT_OPTIONS,
    { NULL, 0, NULL, NULL },
};

const struct command command_status = {
    .name = "status",
    .arguments = "[POOL]",
    .summary = "print what a running host and its pools do",
    .details =
        "STATE of a pool is `open`, `paused`, or how many workers are `opening`, also anew after\n"
        "a failure, or `stopped`: given up until a reload.\n"
        "Exit code: 0; 66 no such pool;\n" CONTROL_CLIENT_CODES,
    .options = options,
    .run = run,
};
