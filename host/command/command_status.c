/* SPDX-License-Identifier: MIT */
/* `weir status [POOL]`: prints the state of a running host as a table. */
#include <stdlib.h>

#include "base/text.h"
#include "host/command/control_client.h"

#define LETTER_MEMBERS 'm'
#define LETTER_FROM 'F'

/* The parsed arguments. */
struct request {
    struct control_client client;
    bool members;
    uint64_t from; /* with `members`: the first number of a worker */
};

static int take(void *context, char letter, const char *argument)
{
    struct request *request = context;

    if (letter != LETTER_MEMBERS && letter != LETTER_FROM)
        return control_client_take(&request->client, letter, argument);
    request->members = true;
    if (letter == LETTER_FROM &&
        (text_parse_u64(argument, &request->from) != TEXT_OK || request->from > UINT32_MAX))
        return command_usage_error(request->client.invocation, "--from takes a number, not %s",
                                   argument);
    return COMMAND_GO_ON;
}

static int ask_members(const struct request *request, const char *path)
{
    char query[32];
    char *target;
    int code;

    (void)snprintf(query, sizeof query, "?from=%ju", (uintmax_t)request->from);
    target = path ? control_client_target("/members/", path, query) : NULL;
    if (path && !target)
        return COMMAND_FAILED;
    code = control_client_ask(&request->client, false, path ? target : "/members",
                              CONTROL_CLIENT_TIMEOUT_S);
    free(target);
    return code;
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
    if (request.from > 0 && first == invocation->argc)
        return command_usage_error(invocation, "--from needs a pool");
    if (request.members)
        return ask_members(&request, first < invocation->argc ? invocation->argv[first] : NULL);
    if (first == invocation->argc)
        return control_client_ask(&request.client, false, "/status", CONTROL_CLIENT_TIMEOUT_S);
    return control_client_ask_of(&request.client, false, "/pools/", invocation->argv[first], "");
}

static const struct command_option options[] = {
    CONTROL_CLIENT_OPTIONS,
    { "members", LETTER_MEMBERS, NULL, "list the workers with their state, 1000 at most" },
    { "from", LETTER_FROM, "N", "with --members POOL: from number N on" },
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
        "wait for a retry, in a stash, or until what they have emitted has room. A line below the\n"
        "table warns of each pool that has no open worker or is paused, and a note names the pool\n"
        "or the rate that workers wait for: `parse: 6 of 6 workers wait for room in pool post`.\n"
        "A source is `waiting` when it waits for room, and `throttled` when for its rate.\n"
        "--members: AGE is the time that the oldest message in hand has been there, too small by\n"
        "the time between two looks of the host. PROCESS, MEMORY and CPU are of the process that\n"
        "the worker has named, such as the child of exec.pipe.\n"
        "Exit code: 0; 66 no such pool;\n" CONTROL_CLIENT_CODES,
    .options = options,
    .run = run,
};
