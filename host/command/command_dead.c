/* `weir dead [POOL]`: what a running host could not handle; and sends it again. */
#include "host/command/control_client.h"

#define LETTER_REPLAY 'r'

/* What the arguments say. */
struct request {
    struct control_client client;
    bool replay;
};

static int take(void *context, char letter, const char *argument)
{
    struct request *request = context;

    if (letter != LETTER_REPLAY)
        return control_client_take(&request->client, letter, argument);
    request->replay = true;
    return COMMAND_GO_ON;
}

static int run(const struct invocation *invocation)
{
    struct request request = { .client = { .invocation = invocation } };
    int first;
    int code = command_parse(invocation, take, &request, &first);
    const char *pool;

    if (code != COMMAND_GO_ON)
        return code;
    pool = first < invocation->argc ? invocation->argv[first] : NULL;
    if (invocation->argc - first > 1)
        return command_usage_error(invocation, "takes one pool, or none for all");
    if (request.replay && !pool)
        return command_usage_error(invocation, "--replay needs a pool");
    if (!pool)
        return control_client_ask(&request.client, false, "/dead", CONTROL_CLIENT_PATIENCE_S);
    return control_client_ask_of(&request.client, request.replay, "/dead/", pool,
                                 request.replay ? "/replay" : "");
}

static const struct command_option options[] = {
    CONTROL_CLIENT_OPTIONS,
    { "replay", LETTER_REPLAY, NULL, "send the pool's dead letters again" },
    { NULL, 0, NULL, NULL },
};

const struct command command_dead = {
    .name = "dead",
    .arguments = "[POOL]",
    .summary = "print the dead letters of a running host, or of one pool or source of it",
    .details =
        "What is sent again goes where it was meant to go and counts as accepted anew; what\n"
        "finds no room there stays.\n"
        "Exit code: 0; 66 no such pool or source;\n" CONTROL_CLIENT_CODES,
    .options = options,
    .run = run,
};
