/* SPDX-License-Identifier: MIT */
/* `weir dead [POOL]`: shows the dead letters of a running host; sends, exports or deletes them. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "host/command/dead_letter_export.h"
#include "host/command/dead_letter_file.h"
#include "host/command/room_wait.h"
#include "host/pages/dead_letters.h"

#define LETTER_REPLAY 'r'
#define LETTER_DELETE 'd'
#define LETTER_ALL 'a'
#define LETTER_EXPORT 'e'
#define LETTER_VERBOSE 'v'
#define LETTER_TIMEOUT 't'

/* The parsed arguments. */
struct request {
    struct control_client client;
    bool replay, delete, all, verbose;
    bool of_file;        /* client.file is a file of dead letters */
    const char *folder;  /* of an export; NULL: none */
    uint64_t timeout_ms; /* of a replay of a file */
    const char *pool;
    uint64_t numbers[DEAD_LETTERS_DELETED_MAX];
    uint32_t count;
};

static int take(void *context, char letter, const char *argument)
{
    struct request *request = context;

    switch (letter) {
    case LETTER_REPLAY:
        request->replay = true;
        return COMMAND_GO_ON;
    case LETTER_DELETE:
        request->delete = true;
        return COMMAND_GO_ON;
    case LETTER_ALL:
        request->all = true;
        return COMMAND_GO_ON;
    case LETTER_VERBOSE:
        request->verbose = true;
        return COMMAND_GO_ON;
    case LETTER_EXPORT:
        request->folder = argument;
        return COMMAND_GO_ON;
    case LETTER_TIMEOUT:
        return room_wait_parse(request->client.invocation, argument, &request->timeout_ms);
    default:
        return control_client_take(&request->client, letter, argument);
    }
}

static bool is_number(const char *text)
{
    uint64_t number;

    return text_parse_u64(text, &number) == TEXT_OK;
}

static int take_numbers(struct request *request, int first)
{
    const struct invocation *invocation = request->client.invocation;

    for (int i = first; i < invocation->argc; i++) {
        if (request->count == DEAD_LETTERS_DELETED_MAX)
            return command_usage_error(invocation, "takes at most %d numbers",
                                       DEAD_LETTERS_DELETED_MAX);
        if (text_parse_u64(invocation->argv[i], &request->numbers[request->count++]) != TEXT_OK)
            return command_usage_error(invocation, "%s is not the number of a dead letter",
                                       invocation->argv[i]);
    }
    return COMMAND_GO_ON;
}

/* For the dead letters of a file, not those of a running host. */
static int check_file(const struct request *request)
{
    const struct invocation *invocation = request->client.invocation;

    if (request->delete || request->all)
        return command_usage_error(invocation,
                                   "--delete is not for a file: rename it, and send the host USR1");
    if (request->folder && strcmp(request->folder, "-") == 0 && request->count != 1)
        return command_usage_error(invocation, "--export - needs the number of one dead letter");
    return COMMAND_GO_ON;
}

/* Requires exactly one action, so that no dead letter is deleted by mistake. */
static int check(const struct request *request)
{
    const struct invocation *invocation = request->client.invocation;
    bool exports = request->folder;

    if (request->replay + request->delete + exports > 1)
        return command_usage_error(invocation, "takes one of --replay, --delete and --export");
    if (request->verbose && (request->replay || request->delete || exports))
        return command_usage_error(invocation, "--verbose is for the list of dead letters");
    if (request->of_file)
        return check_file(request);
    if ((request->replay || request->delete || exports) && !request->pool)
        return command_usage_error(invocation, "--replay, --delete and --export need a pool");
    if (request->count > 0 && !request->delete &&!exports && !request->verbose)
        return command_usage_error(invocation, "takes one pool, or none for all");
    if (request->all && !request->delete)
        return command_usage_error(invocation, "--all belongs to --delete");
    if (request->delete &&request->all == (request->count > 0))
        return command_usage_error(invocation, "--delete needs numbers of dead letters, or --all");
    if (exports && strcmp(request->folder, "-") == 0 && request->count != 1)
        return command_usage_error(invocation, "--export - needs the number of one dead letter");
    return COMMAND_GO_ON;
}

/* `query`, then `numbers=N,N` or `numbers=all`. */
static int ask_for_numbers(const struct request *request, bool is_post, const char *query)
{
    char *after = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&after, &size);
    int code = COMMAND_FAILED;

    if (!stream)
        return code;
    fputs(query, stream);
    if (request->all)
        fputs("numbers=all", stream);
    for (uint32_t i = 0; i < request->count; i++)
        fprintf(stream, "%s%" PRIu64, i ? "," : "numbers=", request->numbers[i]);
    if (fclose(stream) == 0)
        code = control_client_ask_of(&request->client, is_post, "/dead/", request->pool, after);
    free(after);
    return code;
}

static int export_dead_letters(const struct request *request)
{
    const struct dead_letter_export export = { .client = &request->client,
                                               .pool = request->pool,
                                               .folder = request->folder,
                                               .numbers = request->numbers,
                                               .count = request->count };

    return dead_letter_export_run(&export);
}

static int go_through_file(const struct request *request)
{
    const struct dead_letter_file file = { .client = &request->client,
                                           .path = request->client.file,
                                           .pool = request->pool,
                                           .numbers = request->numbers,
                                           .count = request->count,
                                           .folder = request->folder,
                                           .timeout_ms = request->timeout_ms,
                                           .replay = request->replay,
                                           .verbose = request->verbose };

    return dead_letter_file_run(&file);
}

static int carry_out(const struct request *request)
{
    if (request->of_file)
        return go_through_file(request);
    if (!request->pool)
        return control_client_ask(&request->client, false,
                                  request->verbose ? "/dead?payloads=1" : "/dead",
                                  CONTROL_CLIENT_TIMEOUT_S);
    if (request->delete)
        return ask_for_numbers(request, true, "/delete?");
    if (request->verbose)
        return ask_for_numbers(request, false, request->count > 0 ? "?payloads=1&" : "?payloads=1");
    if (request->folder)
        return export_dead_letters(request);
    return control_client_ask_of(&request->client, request->replay, "/dead/", request->pool,
                                 request->replay ? "/replay" : "");
}

static int run(const struct invocation *invocation)
{
    struct request request = { .client = { .invocation = invocation },
                               .timeout_ms = ROOM_WAIT_USUAL_MS };
    int first;
    int code = command_parse(invocation, take, &request, &first);

    if (code != COMMAND_GO_ON)
        return code;
    request.of_file = dead_letter_file_is_one(request.client.file);
    if (first < invocation->argc && !(request.of_file && is_number(invocation->argv[first])))
        request.pool = invocation->argv[first++];
    code = take_numbers(&request, first);
    if (code == COMMAND_GO_ON)
        code = check(&request);
    return code == COMMAND_GO_ON ? carry_out(&request) : code;
}

static const struct command_option options[] = {
    CONTROL_CLIENT_OPTION_CONTROL,
    { "file", 'f', "FILE", "a file of dead letters; or the file that the host runs" },
    CONTROL_CLIENT_OPTION_OUTPUT,
    { "verbose", LETTER_VERBOSE, NULL, "show the start of each payload as text" },
    { "replay", LETTER_REPLAY, NULL, "send the pool's dead letters again" },
    { "timeout", LETTER_TIMEOUT, "TIME",
      "of --replay from a file, to wait for room; default 30s, 0 = not at all" },
    { "delete", LETTER_DELETE, NULL, "delete the dead letters with these numbers" },
    { "all", LETTER_ALL, NULL, "with --delete: all dead letters of the pool" },
    { "export", LETTER_EXPORT, "DIR", "write payloads to files; - writes one to standard output" },
    { NULL, 0, NULL, NULL },
};

const struct command command_dead = {
    .name = "dead",
    .arguments = "[POOL] [NUMBER...]",
    .summary = "print the dead letters of a running host, a pool, a source, or a file",
    .details =
        "--verbose shows at most 40 lines and 2 KiB of each payload, and says how much it leaves\n"
        "out; control characters are escaped. It names what a message of a bundled plugin is: for\n"
        "files.line/1 the file and the line. With numbers it shows these dead letters.\n"
        "--replay sends messages to their targets again and counts them as accepted again; a\n"
        "message that is refused stays. --export writes files DIR/POOL-NUMBER.payload, which only\n"
        "you can read, and overwrites no file; without numbers it writes all of them.\n"
        "With the file of host.dead_letters.file as --file it shows, exports and replays the\n"
        "dead letters of that file; only --replay needs a host. A dead letter that was sent again\n"
        "is marked; to send it once more, give its number. A pool without room is waited for, as\n"
        "by weir send, up to --timeout; after the first that is over nothing more is waited for.\n"
        "Exit code: 0; 65 a dead letter has no payload, or one to delete does not exist;\n"
        "66 no such pool, source or dead letter; 73 a file cannot be made;\n" CONTROL_CLIENT_CODES,
    .options = options,
    .run = run,
};
