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
    .details = "Exit code: 0; " CONTROL_CLIENT_CODES "\n",
    .options = options,
    .run = run,
};
