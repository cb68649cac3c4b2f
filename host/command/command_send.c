/* SPDX-License-Identifier: MIT */
/* `weir send POOL`: sends messages to a pool of a running host. */
#include <stdlib.h>
#include <sysexits.h>

#include "base/plural.h"
#include "base/text.h"
#include "config/json.h"
#include "host/command/posting.h"
#include "host/control/http.h"

/* The number of messages that the host has accepted of a batch. */
static uint64_t count_accepted(const struct answer *answer)
{
    char *text = posting_find(answer, "accepted");
    uint64_t count = 0;

    if (text && text_parse_u64(text, &count) != TEXT_OK)
        count = 0;
    free(text);
    return count;
}

/* Tries until the host has accepted messages at the front of the batch. EX_OK or an exit code. */
static int send_some(struct posting *posting, const struct posting_batch *batch, uint64_t *accepted)
{
    struct answer answer;
    int code;

    room_wait_begin(&posting->wait, posting->timeout_ms);
    for (;;) {
        code = posting_post(posting, "send", batch->is_lines ? "lines=1" : "lines=0", batch,
                            &answer);
        *accepted = count_accepted(&answer);
        if (*accepted > 0 || !room_wait_pause(&posting->wait, &answer))
            break;
        exchange_finish(&answer);
    }
    if (*accepted > 0)
        code = EX_OK;
    else
        posting_print_refusal(posting, &answer);
    exchange_finish(&answer);
    return code;
}

static void print_accepted(const struct posting *posting, uint64_t total)
{
    FILE *out = posting->client.invocation->out;
    struct json json;

    if (!posting->client.json) {
        fprintf(out, "%s: %ju %s accepted\n", posting->pool, (uintmax_t)total,
                plural(total, "message", "messages"));
        return;
    }
    json_init(&json, out);
    json_begin_object(&json, NULL);
    json_text(&json, "path", posting->pool);
    json_unsigned(&json, "accepted", total);
    json_end(&json);
    json_finish(&json);
}

static int send_all(struct posting *posting)
{
    struct posting_batch batch;
    uint64_t accepted, total = 0;
    int code;

    while ((code = posting_read(posting, true, &batch)) == COMMAND_GO_ON) {
        code = send_some(posting, &batch, &accepted);
        if (code != EX_OK)
            break;
        posting_advance(posting, accepted);
        total += accepted;
    }
    print_accepted(posting, total);
    return code;
}

static int run(const struct invocation *invocation)
{
    struct posting posting;
    int code = posting_begin(&posting, invocation);

    if (code == COMMAND_GO_ON)
        code = send_all(&posting);
    posting_finish(&posting);
    return code;
}

static const struct command_option options[] = {
    POSTING_OPTIONS,
    { "timeout", POSTING_LETTER_TIMEOUT, "TIME", "to wait for room; default 30s, 0 = not at all" },
    { NULL, 0, NULL, NULL },
};

const struct command command_send = {
    .name = "send",
    .arguments = "POOL [MESSAGE...]",
    .summary = "send messages to a pool of a running host",
    .details = POSTING_MESSAGES
    "The host accepts them in their order. The command prints how many were accepted, also when\n"
    "it stops before the end. The workers may handle them later.\n"
    "Exit code: 0; 65 a message is too large; 66 no such pool; 75 no room in "
    "time;\n" CONTROL_CLIENT_CODES,
    .options = options,
    .run = run,
};
