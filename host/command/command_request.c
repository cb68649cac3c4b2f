/* SPDX-License-Identifier: MIT */
/* `weir request POOL`: sends requests to a pool of a running host and prints the replies. */
#include <inttypes.h>
#include <stdlib.h>
#include <sysexits.h>
#include <unistd.h>

#include <weir/printable.h>

#include "config/json.h"
#include "host/command/posting.h"
#include "host/control/http.h"

/* --- printing a reply ----------------------------------------------------------------------- */

static bool is_text(const char *bytes, size_t size)
{
    size_t length;

    for (; size > 0; bytes += length, size -= length) {
        length = *bytes == '\n' || *bytes == '\t' || *bytes == '\r' ? 1
                                                                    : weir_printable(bytes, size);
        if (length == 0)
            return false;
    }
    return true;
}

/* NULL: memory is out. Returns owned. */
static char *to_hex(const char *bytes, size_t size)
{
    static const char digits[] = "0123456789abcdef";
    char *text = malloc(2 * size + 1);

    if (!text)
        return NULL;
    for (size_t i = 0; i < size; i++) {
        text[2 * i] = digits[(unsigned char)bytes[i] >> 4];
        text[2 * i + 1] = digits[(unsigned char)bytes[i] & 15];
    }
    text[2 * size] = '\0';
    return text;
}

/* The payload is text when it can be, since JSON has no bytes. */
static int print_json(const struct posting *posting, const struct answer *answer)
{
    bool readable = is_text(answer->text, answer->size);
    char *hex = readable ? NULL : to_hex(answer->text, answer->size);
    struct json json;

    if (!readable && !hex)
        return EX_SOFTWARE;
    json_init(&json, posting->client.invocation->out);
    json_begin_object(&json, NULL);
    json_text(&json, "path", posting->pool);
    json_bool(&json, "replied", answer->status == HTTP_STATUS_OK);
    if (answer->status == HTTP_STATUS_OK) {
        json_unsigned(&json, "size", answer->size);
        json_text(&json, readable ? "text" : "hex", readable ? answer->text : hex);
    }
    json_end(&json);
    json_finish(&json);
    free(hex);
    return EX_OK;
}

/* A terminal gets no control characters; a file or a pipe gets the bytes. Replies to lines are
 * lines. */
static void print_reply(const struct posting *posting, const struct answer *answer)
{
    FILE *out = posting->client.invocation->out;
    int descriptor = fileno(out);

    if (descriptor >= 0 && isatty(descriptor))
        control_client_print(&posting->client, answer->text, answer->size, out);
    else
        (void)fwrite(answer->text, 1, answer->size, out);
    if (!posting->whole && (answer->size == 0 || answer->text[answer->size - 1] != '\n'))
        fputc('\n', out);
}

static int print(const struct posting *posting, const struct answer *answer)
{
    int code = EX_OK;

    if (posting->client.json)
        code = print_json(posting, answer);
    else if (answer->status == HTTP_STATUS_OK)
        print_reply(posting, answer);
    (void)fflush(posting->client.invocation->out); /* a reader may wait for it */
    return code;
}

/* --- requests ------------------------------------------------------------------------------- */

static int request_one(struct posting *posting, const struct posting_batch *batch)
{
    char query[64];
    struct answer answer;
    int code;

    room_wait_begin(&posting->wait, posting->timeout_ms);
    for (;;) {
        (void)snprintf(query, sizeof query, "timeout=%" PRIu64, room_wait_left_ms(&posting->wait));
        code = posting_post(posting, "request", query, batch, &answer);
        if (!room_wait_pause(&posting->wait, &answer))
            break;
        exchange_finish(&answer);
    }
    if (code == EX_OK)
        code = print(posting, &answer);
    else
        posting_print_refusal(posting, &answer);
    exchange_finish(&answer);
    return code;
}

static int request_all(struct posting *posting)
{
    struct posting_batch batch;
    int code;

    while ((code = posting_read(posting, false, &batch)) == COMMAND_GO_ON) {
        code = request_one(posting, &batch);
        if (code != EX_OK)
            break;
        posting_advance(posting, 1);
    }
    return code;
}

static int run(const struct invocation *invocation)
{
    struct posting posting;
    int code = posting_begin(&posting, invocation);

    if (code == COMMAND_GO_ON)
        code = request_all(&posting);
    posting_finish(&posting);
    return code;
}

static const struct command_option options[] = {
    POSTING_OPTIONS,
    { "timeout", POSTING_LETTER_TIMEOUT, "TIME", "for room and reply; default 30s, at most 1h" },
    { NULL, 0, NULL, NULL },
};

const struct command command_request = {
    .name = "request",
    .arguments = "POOL [MESSAGE...]",
    .summary = "send requests to a pool of a running host, and print the replies",
    .details = POSTING_MESSAGES
    "Requests are sent one after the other; the first that fails ends the command. Each reply\n"
    "is printed as a line; with --whole exactly its bytes are printed. A worker may handle a\n"
    "request without a reply, and nothing is printed then.\n"
    "Exit code: 0; 65 a worker has rejected a request, or it is too large; 66 no such pool; 70\n"
    "the worker failed; 75 no room or no reply in time;\n" CONTROL_CLIENT_CODES,
    .options = options,
    .run = run,
};
