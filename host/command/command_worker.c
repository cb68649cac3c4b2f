/* SPDX-License-Identifier: MIT */
/* `weir worker`: the process of one isolated worker, see isolation/worker.h. For weir itself, so no
 * help lists it. */
#include <sysexits.h>
#include <unistd.h>

#include "host/command/command.h"
#include "host/isolation/dialogue.h"
#include "host/isolation/worker.h"

static int run(const struct invocation *invocation)
{
    int first;
    int code = command_parse(invocation, NULL, NULL, &first);

    if (code != COMMAND_GO_ON)
        return code;
    if (worker_run() != WEIR_OK)
        return command_usage_error(invocation, "is for weir itself: write `isolation: process`");
    /* Without the destructors of the plugin, which the host has not asked for either. */
    _exit(EX_OK);
}

static const struct command_option options[] = {
    { NULL, 0, NULL, NULL },
};

const struct command command_worker = {
    .name = WORKER_COMMAND,
    .arguments = "",
    .summary = "carry out the callbacks of one worker of a pool with `isolation: process`",
    .options = options,
    .internal = true,
    .run = run,
};
