/* `weir pause POOL`, `weir resume POOL`: whether a running pool takes messages. */
#include <stdlib.h>
#include <sysexits.h>

#include "host/command/control_client.h"
#include "host/control/http.h"

static int take(void *context, char letter, const char *argument)
{
    return control_client_take(context, letter, argument);
}

static char *target_of(const char *pool, const char *verb)
{
    char *target = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&target, &size);

    if (!stream)
        return NULL;
    fputs("/pools/", stream);
    http_write_escaped(stream, pool);
    fprintf(stream, "/%s", verb);
    return fclose(stream) == 0 ? target : NULL;
}

static int run(const struct invocation *invocation)
{
    struct control_client client = { .invocation = invocation };
    int first;
    int code = command_parse(invocation, take, &client, &first);
    char *target;

    if (code != COMMAND_GO_ON)
        return code;
    if (invocation->argc - first != 1)
        return command_usage_error(invocation, "takes one pool");
    target = target_of(invocation->argv[first], invocation->command->name);
    code = target ? control_client_ask(&client, true, target, CONTROL_CLIENT_PATIENCE_S)
                  : EX_SOFTWARE;
    free(target);
    return code;
}

static const struct command_option options[] = {
    CONTROL_CLIENT_OPTIONS,
    { NULL, 0, NULL, NULL },
};

const struct command command_pause = {
    .name = "pause",
    .arguments = "POOL",
    .summary = "have a running pool refuse every message, until it is resumed",
    .details = "Its workers finish what it has accepted; whoever feeds it waits.\n"
               "Exit code: 0; " CONTROL_CLIENT_CODES "\n",
    .options = options,
    .run = run,
};

const struct command command_resume = {
    .name = "resume",
    .arguments = "POOL",
    .summary = "have a paused pool take messages again",
    .details = "Exit code: 0; " CONTROL_CLIENT_CODES "\n",
    .options = options,
    .run = run,
};
