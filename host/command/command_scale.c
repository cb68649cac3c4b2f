/* `weir scale POOL N`: changes the number of workers of a running pool. */
#include "config/settings.h"
#include "host/command/control_client.h"

static int scale(const struct control_client *client, const char *pool, uint64_t size)
{
    char after[sizeof "/scale?size=" + 20];

    (void)snprintf(after, sizeof after, "/scale?size=%ju", (uintmax_t)size);
    return control_client_ask_of(client, true, "/pools/", pool, after);
}

static int run(const struct invocation *invocation)
{
    struct control_client client = { .invocation = invocation };
    uint64_t size = 0;
    int first;
    int code = control_client_parse(&client, &first);

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
    .summary = "set the number of workers of a running pool",
    .details =
        "If `size` of the file is {min, max}, N must be within; if it is one number, the next\n"
        "reload sets that number again.\n"
        "Exit code: 0; 65 N is outside the bounds; 66 no such pool;\n" CONTROL_CLIENT_CODES,
    .options = options,
    .run = run,
};
