/* `weir reload`: reloads the file of a running host, and waits for the result. */
#include <sysexits.h>

#include "host/command/control_client.h"

static int run(const struct invocation *invocation)
{
    struct control_client client = { .invocation = invocation };
    int first;
    int code = control_client_parse(&client, &first);

    if (code != COMMAND_GO_ON)
        return code;
    if (first < invocation->argc)
        return command_usage_error(invocation, "takes no argument");
    /* No time-out: the host limits how long workers may take to open and to end. */
    return control_client_ask(&client, true, invocation->colour ? "/reload?colour=yes" : "/reload",
                              0);
}

static const struct command_option options[] = {
    CONTROL_CLIENT_OPTIONS,
    { NULL, 0, NULL, NULL },
};

const struct command command_reload = {
    .name = "reload",
    .arguments = "",
    .summary = "make a running host reload its file; print what changed, or the errors",
    .details = "Exit code: 0 the file is in force; 78 the file has mistakes, and nothing has "
               "changed;\n" CONTROL_CLIENT_CODES,
    .options = options,
    .run = run,
};
