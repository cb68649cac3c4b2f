/* `weir status [POOL]`: prints the state of a running host as a table. */
#include "host/command/control_client.h"

#define LETTER_MEMBERS 'm'

/* The parsed arguments. */
struct request {
    struct control_client client;
    bool members;
};

static int take(void *context, char letter, const char *argument)
{
    struct request *request = context;

    if (letter != LETTER_MEMBERS)
        return control_client_take(&request->client, letter, argument);
    request->members = true;
    return COMMAND_GO_ON;
}

static int run(const struct invocation *invocation)
{
    struct request request = { .client = { .invocation = invocation } };
    int first;
    int code = command_parse(invocation, take, &request, &first);

    if (code != COMMAND_GO_ON)
        return code;
    if (invocation->argc - first > 1)
        return command_usage_error(invocation, "takes one pool, or none for the whole host");
    if (first == invocation->argc)
        return control_client_ask(&request.client, false, request.members ? "/members" : "/status",
                                  CONTROL_CLIENT_TIMEOUT_S);
    return control_client_ask_of(&request.client, false, request.members ? "/members/" : "/pools/",
                                 invocation->argv[first], "");
}

static const struct command_option options[] = {
    CONTROL_CLIENT_OPTIONS,
    { "members", LETTER_MEMBERS, NULL, "list the workers with their state" },
    { NULL, 0, NULL, NULL },
};

const struct command command_status = {
    .name = "status",
    .arguments = "[POOL]",
    .summary = "print the figures of a running host and its pools",
    .details =
        "No line has more than 100 columns: long names are cut in their middle, and large numbers\n"
        "have units (k, M, G: thousands). `-o json` has all figures in full.\n"
        "STATE is `open`, `paused`, or the number of workers that are `opening` (also again after\n"
        "a failure) or `stopped` (failed too often). ACCEPTED is the sum of the columns from DONE\n"
        "to HELD: a message that moved to another worker counts once. HELD counts messages that\n"
        "wait for room behind an output, for a retry, or in a stash. A line below the table warns\n"
        "of each pool that has no open worker or is paused.\n"
        "Exit code: 0; 66 no such pool;\n" CONTROL_CLIENT_CODES,
    .options = options,
    .run = run,
};
