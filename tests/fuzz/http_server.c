/* SPDX-License-Identifier: MIT */
/*
 * Goal:   whatever bytes a client sends, however they are cut, http.server makes of them the
 *         requests that a second reader finds: the pool gets these and no other, the client gets
 *         the answer of each, in order, and the next client its own. Shows promises B16 and B77.
 * Method: the plugin in the test kit. The first byte of an input says how the rest is cut into
 *         pieces, and the second how the pool answers. The rest is what a client sends at a Unix
 *         socket. Then all deadlines pass, and an honest client must get its answer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <weir/testkit.h>

#include "fuzz.h"
#include "http_model.h"
#include "plugins/http/http.h"
#include "trial.h"
#include "wire/http1_head.h"

#define POLLS_MAX 64u
#define ANSWERS_SIZE ((size_t)256 * 1024)
#define HONEST_POLLS_MAX 10000u
#define HONEST "POST /p HTTP/1.1\r\nHost: weir\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi"

extern const struct weir_plugin weir_plugin_v1;

/* Bits of how the pool answers; the number also chooses one of `ends`. */
#define NEVER 0x80u
#define BY_PARTS 0x40u

/* A server, its address, and how many requests have been answered. */
struct trial {
    struct weir_kit *kit;
    struct sockaddr_un address;
    size_t answered;
    uint8_t how;
};

struct ending {
    int status;
    unsigned answer;
};

static struct ending ending_of(const struct trial *trial)
{
    static const struct ending endings[] = {
        { 0, 200 },
        { 0, 200 },
        { 0, 200 },
        { WEIR_ENOREPLY, 204 },
        { WEIR_EREJECTED, 422 },
        { WEIR_ECRASHED, 502 },
    };

    return endings[trial->how % (sizeof endings / sizeof endings[0])];
}

/* Answers what the pool got, as the input says. A request that was cancelled takes no answer. */
static void answer_requests(struct trial *trial)
{
    static const char reply[] = "404\nX-A: b\n\nno";

    for (; trial->answered < weir_kit_sent_count(trial->kit); trial->answered++) {
        const struct weir_kit_sent *sent = weir_kit_sent(trial->kit, trial->answered);
        int status = ending_of(trial).status;

        if (trial->how & NEVER) /* the client gets 504, or leaves */
            continue;
        (void)weir_kit_answer(trial->kit, sent->reference, status,
                              trial->how & BY_PARTS ? HTTP_RESPONSE_TAG : "any/1", reply,
                              status == 0 ? sizeof reply - 1 : 0);
    }
    (void)weir_kit_produce(trial->kit, 1); /* a reply wakes the source */
}

static void work(struct trial *trial)
{
    for (unsigned i = 0; i < POLLS_MAX && weir_kit_poll(trial->kit) > 0; i++)
        answer_requests(trial);
    answer_requests(trial);
    weir_kit_advance(trial->kit, 0);
}

static int join(struct trial *trial)
{
    int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    trial_must(client >= 0 &&
                   connect(client, (struct sockaddr *)&trial->address, sizeof trial->address) == 0,
               "no connection");
    return client;
}

/* Works until the pool gets nothing more. */
static void settle(struct trial *trial)
{
    size_t before;

    do {
        before = trial->answered;
        work(trial);
    } while (trial->answered != before);
}

/* --- what arrived ----------------------------------------------------------------------------- */

static void expect_messages(struct trial *trial, const struct model *model)
{
    size_t sent = 0;

    for (size_t i = 0; i < model->count; i++) {
        const struct weir_kit_sent *message = weir_kit_sent(trial->kit, sent);

        if (model->requests[i].status)
            continue;
        if (!message && (trial->how & NEVER)) /* it waits behind a request without an answer */
            return;
        trial_must(message, "a request has not reached the pool");
        trial_must(
            model_is_message(&model->requests[i], message->message->data, message->message->size),
            "the pool got another request");
        sent++;
    }
    trial_must(weir_kit_sent_count(trial->kit) == sent, "a hidden request has reached the pool");
}

/* All bytes that are there; static. */
static const char *hear(int client, size_t *out_size, bool *out_is_closed)
{
    static char text[ANSWERS_SIZE];
    size_t size = 0;
    ssize_t got;

    while ((got = recv(client, text + size, sizeof text - size, MSG_DONTWAIT)) > 0)
        size += (size_t)got;
    trial_must(size < sizeof text, "too many answers");
    *out_size = size;
    *out_is_closed = got == 0;
    return text;
}

/* The status of the answer at `*at`, which is then behind it; 0: there is none. */
static unsigned take_status(const char *text, size_t size, size_t *at, bool is_head)
{
    struct http1_head head;

    do {
        if (*at == size)
            return 0;
        http1_answer_init(&head, MODEL_HEAD_MAX);
        trial_must(http1_head_read(&head, text + *at, (uint32_t)(size - *at)) == HTTP1_DONE,
                   "half an answer");
        *at += head.size;
    } while (head.status == 100);
    if (!is_head) {
        trial_must(head.length <= size - *at, "half of the body of an answer");
        *at += (size_t)head.length;
    }
    return head.status;
}

static unsigned pool_status(const struct trial *trial)
{
    struct ending ending = ending_of(trial);

    if (trial->how & NEVER)
        return 504;
    return ending.status == 0 && (trial->how & BY_PARTS) ? 404 : ending.answer;
}

/* An answer for each request, in order; and one behind them, if that is refused. */
static void expect_answers(const struct trial *trial, const struct model *model, int client)
{
    size_t size, at = 0;
    bool is_closed, is_last = false;
    const char *text = hear(client, &size, &is_closed);

    for (size_t i = 0; i < model->count; i++) {
        const struct model_request *request = &model->requests[i];
        unsigned status = take_status(text, size, &at, request->is_head);

        if (status == 0 && (trial->how & NEVER))
            return;
        trial_must(status == (request->status ? request->status : pool_status(trial)),
                   "a request has another answer");
    }
    if (model->end != MODEL_CLOSED)
        is_last = take_status(text, size, &at, model->refuses_head) != 0;
    trial_must(is_last || model->end != MODEL_REFUSED, "a refused request has no answer");
    trial_must(at == size, "an answer to no request");
    if (!(trial->how & NEVER))
        trial_must(is_closed == (is_last || model->end == MODEL_CLOSED), "another end");
}

/* --- clients ---------------------------------------------------------------------------------- */

/* The size of the next piece. Odd cuts are all of one size, even ones differ. */
static size_t next_piece(uint8_t cut, uint32_t *draw)
{
    if (cut == 0)
        return SIZE_MAX;
    *draw = *draw * 1664525u + 1013904223u;
    return cut & 1 ? cut : 1 + (*draw >> 16) % cut;
}

static void send_pieces(struct trial *trial, int client, const uint8_t *data, size_t size,
                        uint8_t cut)
{
    uint32_t draw = cut;

    for (size_t at = 0, piece; at < size; at += piece) {
        piece = next_piece(cut, &draw);
        piece = piece < size - at ? piece : size - at;
        if (send(client, data + at, piece, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
            break;
        work(trial);
    }
    settle(trial);
}

static void attack(struct trial *trial, const uint8_t *data, size_t size, uint8_t cut)
{
    static struct model model;
    int client = join(trial);
    bool leaves = cut & 2; /* before the deadlines */

    model_read(&model, (const char *)data, size);
    send_pieces(trial, client, data, size, cut);
    if (!(trial->how & NEVER)) {
        expect_messages(trial, &model);
        expect_answers(trial, &model, client);
    }
    if (leaves)
        (void)close(client);
    settle(trial);
    for (unsigned i = 0; i < 8; i++) {
        weir_kit_advance(trial->kit, 1000);
        settle(trial);
    }
    expect_messages(trial, &model);
    if (!leaves && (trial->how & NEVER))
        expect_answers(trial, &model, client);
    if (!leaves)
        (void)close(client);
    model_free(&model);
}

static void expect_answer(struct trial *trial)
{
    int client = join(trial);
    char text[512] = "";
    ssize_t got = -1;

    trial->how = 0;
    trial_must(send(client, HONEST, strlen(HONEST), MSG_NOSIGNAL) == (ssize_t)strlen(HONEST),
               "send");
    for (unsigned i = 0; i < HONEST_POLLS_MAX && got < 0; i++) {
        work(trial);
        got = recv(client, text, sizeof text - 1, MSG_DONTWAIT);
    }
    trial_must(got > 0 && strncmp(text, "HTTP/1.1 200 ", 13) == 0,
               "an honest client has no answer");
    (void)close(client);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct trial trial = { .address.sun_family = AF_UNIX };
    char *path = trial.address.sun_path;

    if (size < 2 || size - 2 > MODEL_SIZE_MAX)
        return 0;
    trial.how = data[1];
    (void)snprintf(path, sizeof trial.address.sun_path, "/tmp/weir-fuzz-%ld", (long)getpid());
    trial.kit = weir_kit_create(&weir_plugin_v1, "server");
    trial_must(trial.kit && weir_kit_open_format(
                                trial.kit,
                                "listen: \"unix:%s\"\nidle: 2s\nreceive: 2s\nsend: 2s\n"
                                "timeout: 2s\nheader_max: %u\nbody_max: %u\nbodies_max: 8KiB\n"
                                "headers: [host]\nhealth: " MODEL_HEALTH,
                                path, MODEL_HEAD_MAX, MODEL_BODY_MAX) == 0,
               "open");
    trial_must(weir_kit_produce(trial.kit, 1) == WEIR_WAIT, "produce");
    attack(&trial, data + 2, size - 2, data[0]);
    expect_answer(&trial);
    trial_must(weir_kit_destroy(trial.kit) == 0, "the kit has found problems");
    (void)unlink(path);
    return 0;
}
