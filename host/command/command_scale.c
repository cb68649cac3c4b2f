/* `weir scale POOL N`: more or fewer workers of a running pool. */
#include <stdlib.h>
#include <sysexits.h>

#include "config/settings.h"
#include "host/command/control_client.h"
#include "host/control/http.h"

static int take(void *context, char letter, const char *argument)
{
    return control_client_take(context, letter, argument);
}

static char *target_of(const char *pool, uint64_t size)
{
    char *target = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&target, &length);

    if (!stream)
        return NULL;
    fputs("/pools/", stream);
    http_write_escaped(stream, pool);
    fprintf(stream, "/scale?size=%ju", (uintmax_t)size);
    return fclose(stream) == 0 ? target : NULL;
}

static int scale(const struct control_client *client, const char *pool, uint64_t size)
{
    char *target = target_of(pool, size);
    int code = target ? control_client_ask(client, true, target, CONTROL_CLIENT_PATIENCE_S)
                      : EX_SOFTWARE;

    free(target);
    return code;
}

static int run(const struct invocation *invocation)
{
    struct control_client client = { .invocation = invocation };
    uint64_t size = 0;
    int first;
    int code = command_parse(invocation, take, &client, &first);

    if (code != COMMAND_GO_ON)
        return code;
    if (invocation->argc - first != 2)
        return command_usage_error(invocation, "takes a pool and a number of workers");
    if (text_parse_u64(invocation->argv[first + 1], &size) != TEXT_OK ||
        size > SETTINGS_POOL_SIZE_MAX)
        return command_usage_error(invocation, "a pool has 0..%u workers, not %s",
                                   SETTINGS_POOL_SIZE_MAX, invocation->argv[first + 1]);
    return scale(&client, invocation->argv[first], size);
}

static const struct command_option options[] = {
    CONTROL_CLIENT_OPTIONS,
    { NULL, 0, NULL, NULL },
};

const struct command command_scale = {
    .name = "scale",
    .arguments = "POOL N",
    .summary = "give a running pool N workers",
    .details =
        "The number stays inside the {min, max} of the file; the next reload of a file that\n"
        "says one number brings that number back.\n"
        "Exit code: 0; 65 the pool cannot have so many; " CONTROL_CLIENT_CODES "\n",
    .options = options,
    .run = run,
};
