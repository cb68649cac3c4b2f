/* SPDX-License-Identifier: MIT */
/* `weir probe COPY FILE` and `weir probe`: the child's side of plugin/probe.h. For weir itself, so
 * no help lists it. */
#include "host/command/command.h"
#include "host/plugin/probe.h"
#include "host/plugin/shared_object.h"
#include "host/plugin/trial.h"

static int run(const struct invocation *invocation)
{
    struct problem problem = { "" };
    int first, status;
    int code = command_parse(invocation, NULL, NULL, &first);

    if (code != COMMAND_GO_ON)
        return code;
    if (invocation->argc != first && invocation->argc - first != 2)
        return command_usage_error(invocation, "takes two files, or none");
    if (probe_begin() != WEIR_OK)
        return command_usage_error(invocation, "is for weir itself, see `weir check --plugin`");
    if (invocation->argc == first) {
        status = trial_carry_out(PROBE_TRIAL, &problem);
        if (status != WEIR_OK) {
            /* The host quotes it. */
            fprintf(invocation->err, "%s\n",
                    problem.text[0] ? problem.text : weir_status_text(status));
            return COMMAND_FAILED;
        }
        probe_opened();
        probe_answer(WEIR_OK, NULL);
    }
    status = shared_object_try(invocation->argv[first], invocation->argv[first + 1], probe_opened,
                               &problem);
    probe_answer(status, &problem);
}

static const struct command_option options[] = {
    { NULL, 0, NULL, NULL },
};

const struct command command_probe = {
    .name = PROBE_COMMAND,
    .arguments = "[COPY FILE]",
    .summary = "load the copy of a plugin, or call its checks, in a process that may crash",
    .options = options,
    .internal = true,
    .run = run,
};
