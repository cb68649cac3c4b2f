/* `weir restart POOL`: gives the workers of a running pool a new incarnation. */
#include <stdlib.h>
#include <sysexits.h>

#include "host/command/control_client.h"

static int run(const struct invocation *invocation)
{
    struct control_client client = { .invocation = invocation };
    int first;
    int code = control_client_parse(&client, &first);
    char *target;

    if (code != COMMAND_GO_ON)
        return code;
    if (invocation->argc - first != 1)
        return command_usage_error(invocation, "takes one pool");
    target = control_client_target("/pools/", invocation->argv[first], "/restart");
    /* No time-out: the host limits how long workers may take to settle the messages that they
     * keep. */
    code = target ? control_client_ask(&client, true, target, 0) : COMMAND_FAILED;
    free(target);
    return code;
}

static const struct command_option options[] = {
    CONTROL_CLIENT_OPTIONS,
    { NULL, 0, NULL, NULL },
};

const struct command command_restart = {
    .name = "restart",
    .arguments = "POOL",
    .summary = "restart the workers of a running pool and of its nested pools",
    .details =
        "Each worker ends after its message in hand, when it has settled the messages that it\n"
        "keeps, and opens again in its place. Mailboxes stay: no message is lost. A worker that\n"
        "takes longer than `remove.timeout` of its pool is not restarted.\n"
        "Exit code: 0; 65 not all workers have been restarted; 66 no such "
        "pool;\n" CONTROL_CLIENT_CODES,
    .options = options,
    .run = run,
};
