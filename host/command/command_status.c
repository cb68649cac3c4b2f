/* `weir status [POOL]`: what a running host does, as a table. */
#include <stdlib.h>
#include <sysexits.h>

#include "host/command/control_client.h"
#include "host/control/http.h"

static int take(void *context, char letter, const char *argument)
{
    return control_client_take(context, letter, argument);
}

/* `pools/PATH`, or `status` without one; allocated. */
static char *target_of(const char *pool)
{
    char *target = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&target, &size);

    if (!stream)
        return NULL;
    fputs(pool ? "/pools/" : "/status", stream);
    if (pool)
        http_write_escaped(stream, pool);
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
    if (invocation->argc - first > 1)
        return command_usage_error(invocation, "takes one pool, or none for the whole host");
    target = target_of(first < invocation->argc ? invocation->argv[first] : NULL);
    code = target ? control_client_ask(&client, false, target, CONTROL_CLIENT_PATIENCE_S)
                  : EX_SOFTWARE;
    free(target);
    return code;
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
