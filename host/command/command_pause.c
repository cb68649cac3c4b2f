/* SPDX-License-Identifier: MIT */
/* `weir pause POOL|SOURCE`, `weir resume POOL|SOURCE`: stop and start the intake of a running pool,
 * or what a source sends. */
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
        return command_usage_error(invocation, "takes one pool or source");
    (void)snprintf(after, sizeof after, "/%s", invocation->command->name);
    return control_client_ask_of(&client, true, "/pools/", invocation->argv[first], after);
}

static const struct command_option options[] = {
    CONTROL_CLIENT_OPTIONS,
    { NULL, 0, NULL, NULL },
};

const struct command command_pause = {
    .name = "pause",
    .arguments = "POOL|SOURCE",
    .summary = "make a running pool refuse every message, or a source send none",
    .details =
        "A paused pool finishes the messages that it has accepted; its senders wait. A paused\n"
        "source finds every pool full: it reads and takes nothing more, as files.lines,\n"
        "stdin.lines, timer, queue.take and amqp.consume do before a full pool, and http.server\n"
        "answers 503. What it has sent goes on. The pause lasts until `weir resume`, also over a\n"
        "reload; the next start begins without it. `weir status` shows what is paused.\n"
        "Exit code: 0; 66 no such pool or source;\n" CONTROL_CLIENT_CODES,
    .options = options,
    .run = run,
};

const struct command command_resume = {
    .name = "resume",
    .arguments = "POOL|SOURCE",
    .summary = "make a paused pool accept messages again, or a paused source send again",
    .details = "Exit code: 0; 66 no such pool or source;\n" CONTROL_CLIENT_CODES,
    .options = options,
    .run = run,
};
