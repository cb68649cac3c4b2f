/* SPDX-License-Identifier: MIT */
#include "host/command/posting.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "config/reader.h"
#include "host/control/http.h"

/* --- the command line ----------------------------------------------------------------------- */

static int take(void *context, char letter, const char *argument)
{
    struct posting *posting = context;

    switch (letter) {
    case POSTING_LETTER_TIMEOUT:
        return room_wait_parse(posting->client.invocation, argument, &posting->timeout_ms);
    case POSTING_LETTER_TAG:
        posting->tag = argument;
        return COMMAND_GO_ON;
    case POSTING_LETTER_KEY:
        posting->key = argument;
        return COMMAND_GO_ON;
    case POSTING_LETTER_WHOLE:
        posting->whole = true;
        return COMMAND_GO_ON;
    default:
        return control_client_take(&posting->client, letter, argument);
    }
}

int posting_begin(struct posting *posting, const struct invocation *invocation)
{
    int first;
    int code;

    *posting = (struct posting){ .client = { .invocation = invocation },
                                 .timeout_ms = ROOM_WAIT_USUAL_MS };
    message_input_init(&posting->input, STDIN_FILENO);
    code = command_parse(invocation, take, posting, &first);
    if (code != COMMAND_GO_ON)
        return code;
    if (first == invocation->argc)
        return command_usage_error(invocation, "takes a pool");
    posting->pool = invocation->argv[first];
    posting->messages = invocation->argv + first + 1;
    if (posting->whole && posting->messages[0])
        return command_usage_error(invocation, "--whole reads standard input: give no MESSAGE");
    posting->path = control_client_find(&posting->client, &code);
    return posting->path ? COMMAND_GO_ON : code;
}

void posting_finish(struct posting *posting)
{
    message_input_finish(&posting->input);
    free(posting->path);
}

/* --- messages ------------------------------------------------------------------------------- */

static int report_unread(const struct posting *posting, int error)
{
    const struct invocation *invocation = posting->client.invocation;

    if (error == E2BIG && posting->whole)
        fprintf(invocation->err, "weir %s: standard input is larger than 1 MiB\n",
                invocation->command->name);
    else if (error == E2BIG)
        fprintf(invocation->err, "weir %s: line %ju is larger than 1 MiB\n",
                invocation->command->name, (uintmax_t)posting->input.lines + 1);
    else
        fprintf(invocation->err, "weir %s: standard input: %s\n", invocation->command->name,
                strerror(error));
    return error == E2BIG ? EX_DATAERR : EX_NOINPUT;
}

static int read_argument(const struct posting *posting, struct posting_batch *out)
{
    const char *message = posting->messages[posting->next];
    const struct invocation *invocation = posting->client.invocation;

    *out = (struct posting_batch){ .bytes = message };
    if (!message)
        return EX_OK;
    out->size = strlen(message);
    if (out->size <= HTTP_BODY_MAX)
        return COMMAND_GO_ON;
    fprintf(invocation->err, "weir %s: message %u is larger than 1 MiB\n",
            invocation->command->name, posting->next + 1);
    return EX_DATAERR;
}

static int read_whole(struct posting *posting, struct posting_batch *out)
{
    int status;

    if (posting->input.ended)
        return EX_OK;
    status = message_input_read_all(&posting->input);
    *out = (struct posting_batch){ .bytes = posting->input.bytes, .size = posting->input.size };
    return status == 0 ? COMMAND_GO_ON : report_unread(posting, -status);
}

static int read_lines(struct posting *posting, bool many, struct posting_batch *out)
{
    size_t size;
    int status = message_input_read(&posting->input, &size);

    if (status != 0)
        return report_unread(posting, -status);
    if (size == 0)
        return EX_OK;
    *out = (struct posting_batch){ .bytes = posting->input.bytes, .size = size, .is_lines = true };
    if (!many) {
        out->size = message_input_line(&posting->input);
        out->is_lines = false;
    }
    return COMMAND_GO_ON;
}

int posting_read(struct posting *posting, bool many, struct posting_batch *out)
{
    if (posting->whole)
        return read_whole(posting, out);
    if (posting->messages[0])
        return read_argument(posting, out);
    return read_lines(posting, many, out);
}

void posting_advance(struct posting *posting, uint64_t count)
{
    if (posting->messages[0])
        posting->next += count > 0;
    else if (!posting->whole)
        message_input_drop(&posting->input, count);
}

/* --- posting -------------------------------------------------------------------------------- */

static void write_part(FILE *stream, const char *name, const char *text)
{
    if (!text)
        return;
    fprintf(stream, "&%s=", name);
    http_write_escaped(stream, text);
}

/* NULL: memory is out. Returns owned. */
static char *make_target(const struct posting *posting, const char *verb, const char *query)
{
    char *target = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&target, &size);

    if (!stream)
        return NULL;
    fputs("/pools/", stream);
    http_write_escaped(stream, posting->pool);
    fprintf(stream, "/%s?%s", verb, query);
    write_part(stream, "tag", posting->tag);
    write_part(stream, "key", posting->key);
    if (fclose(stream) == 0)
        return target;
    free(target);
    return NULL;
}

int posting_post(const struct posting *posting, const char *verb, const char *query,
                 const struct posting_batch *batch, struct answer *out)
{
    char *target = make_target(posting, verb, query);
    const struct exchange exchange = { .path = posting->path,
                                       .target = target,
                                       .is_post = true,
                                       .wants_json = true,
                                       .body = batch->bytes,
                                       .body_size = batch->size };
    int code;

    *out = (struct answer){ .status = 0 };
    if (!target)
        return EX_SOFTWARE;
    code = control_client_run(&posting->client, &exchange, out);
    free(target);
    return code;
}

/* JSON is YAML, too. */
char *posting_find(const struct answer *answer, const char *key)
{
    struct config_tree *tree = NULL;
    struct report report;
    char *value = NULL;

    report_init(&report);
    if (answer->size > 0 &&
        config_read_text("answer", answer->text, answer->size, NULL, &report, &tree) == 0) {
        const struct config_node *node = config_find(tree->root, key);

        if (node && node->kind == CONFIG_SCALAR)
            value = strdup(node->text);
        config_tree_destroy(tree);
    }
    report_finish(&report);
    return value;
}

/* Which message is refused, when there are several; a pool that is not there refuses them all. */
static void print_place(const struct posting *posting, const struct answer *answer)
{
    FILE *err = posting->client.invocation->err;

    if (posting->whole || answer->status == HTTP_STATUS_NOT_FOUND ||
        answer->status == HTTP_STATUS_BAD_REQUEST)
        return;
    if (!posting->messages[0])
        fprintf(err, "line %ju: ", (uintmax_t)posting->input.lines + 1);
    else if (posting->messages[1])
        fprintf(err, "message %u: ", posting->next + 1);
}

void posting_print_refusal(const struct posting *posting, const struct answer *answer)
{
    const struct invocation *invocation = posting->client.invocation;
    char *error = posting->client.json ? NULL : posting_find(answer, "error");

    if (error) {
        fprintf(invocation->err, "weir %s: ", invocation->command->name);
        print_place(posting, answer);
        control_client_print(&posting->client, error, strlen(error), invocation->err);
        fputc('\n', invocation->err);
    } else if (answer->size > 0) {
        control_client_print(&posting->client, answer->text, answer->size, invocation->err);
    }
    free(error);
}
