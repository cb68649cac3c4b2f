/* SPDX-License-Identifier: MIT */
/* `weir inspect PATH [ITEM...]`: prints the items of a pool, a source or a worker of a running
 * host. */
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "host/command/control_client.h"
#include "host/control/http.h"

/* `/inspect/PATH?items=A,B`; allocated. */
static char *target_of(const char *path, char *const *items, int count)
{
    char *target = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&target, &size);

    if (!stream)
        return NULL;
    fputs("/inspect/", stream);
    http_write_escaped(stream, path);
    for (int i = 0; i < count; i++) {
        fputs(i ? "," : "?items=", stream);
        http_write_escaped(stream, items[i]);
    }
    return fclose(stream) == 0 ? target : NULL;
}

/* A line of the table begins with the name of an item, and JSON has it as a key. */
static bool has_item(const struct control_client *client, const struct answer *answer,
                     const char *item)
{
    char *key = NULL;
    bool found = false;

    if (asprintf(&key, client->json ? "\n    \"%s\": " : "\n%s ", item) < 0)
        return false;
    found = memmem(answer->text, answer->size, key, strlen(key)) ||
            (answer->size > strlen(item) && strncmp(answer->text, key + 1, strlen(key) - 1) == 0);
    free(key);
    return found;
}

/* Says which of the items that were asked for the answer does not have. */
static int print_missing(const struct control_client *client, const struct answer *answer,
                         const char *path, char *const *items, int count)
{
    int code = EX_OK;

    for (int i = 0; i < count; i++) {
        if (has_item(client, answer, items[i]))
            continue;
        fprintf(client->invocation->err, "error: %s has no item \"%s\"\n", path, items[i]);
        code = EX_NOINPUT;
    }
    return code;
}

/* `items` begin with the path. */
static int ask(const struct control_client *client, const char *target, char *const *items,
               int count)
{
    struct answer answer;
    int code = control_client_fetch(client, false, target, CONTROL_CLIENT_TIMEOUT_S, &answer);

    if (code == EX_OK) {
        control_client_print(client, answer.text, answer.size, client->invocation->out);
        code = print_missing(client, &answer, items[0], items + 1, count - 1);
    }
    exchange_finish(&answer);
    return code;
}

static int run(const struct invocation *invocation)
{
    struct control_client client = { .invocation = invocation };
    int first;
    int code = control_client_parse(&client, &first);
    char *target;

    if (code != COMMAND_GO_ON)
        return code;
    if (invocation->argc <= first)
        return command_usage_error(invocation, "takes a pool, a source or a worker (pool#3), and "
                                               "the items that you want");
    target = target_of(invocation->argv[first], invocation->argv + first + 1,
                       invocation->argc - first - 1);
    code = target ? ask(&client, target, invocation->argv + first, invocation->argc - first)
                  : EX_SOFTWARE;
    free(target);
    return code;
}

static const struct command_option options[] = {
    CONTROL_CLIENT_OPTIONS,
    { NULL, 0, NULL, NULL },
};

const struct command command_inspect = {
    .name = "inspect",
    .arguments = "PATH [ITEM...]",
    .summary = "ask a pool, a source or a worker of a running host for its items",
    .details =
        "PATH is the path of a pool, a source or a worker (`pool#3`), a name that an actor has\n"
        "registered, or a PID. Waiting messages do not delay the answer, only the message in\n"
        "hand does. Without items, all items are printed.\n"
        "Exit code: 0; 66 no such actor, or it has no such item; 75 also when it does not answer "
        "within 5 "
        "s;\n" CONTROL_CLIENT_CODES,
    .options = options,
    .run = run,
};
