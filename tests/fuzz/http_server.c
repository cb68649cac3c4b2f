/*
 * Goal:   no bytes of a client harm http.server: it answers or closes, and answers the next client.
 *         Shows promise B16.
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
#include "plugins/http/http.h"

#define POLLS_MAX 64u
#define HONEST_POLLS_MAX 10000u
#define HONEST "POST /p HTTP/1.1\r\nHost: weir\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi"

extern const struct weir_plugin weir_plugin_v1;

/* A server, its address, and how many requests have been answered. */
struct trial {
    struct weir_kit *kit;
    struct sockaddr_un address;
    size_t answered;
    uint8_t how;
};

static void must(bool holds, const char *what)
{
    if (holds)
        return;
    (void)fprintf(stderr, "fuzz: %s\n", what);
    abort();
}

/* Answers what the pool got, as the input says. A request that was cancelled takes no answer. */
static void answer_requests(struct trial *trial)
{
    static const int statuses[] = { 0, 0, 0, WEIR_ENOREPLY, WEIR_EREJECTED, WEIR_ECRASHED };
    static const char reply[] = "404\nX-A: b\n\nno";

    for (; trial->answered < weir_kit_sent_count(trial->kit); trial->answered++) {
        const struct weir_kit_sent *sent = weir_kit_sent(trial->kit, trial->answered);
        int status = statuses[trial->how % (sizeof statuses / sizeof statuses[0])];

        if (trial->how & 0x80) /* the client gets 504, or leaves */
            continue;
        (void)weir_kit_answer(trial->kit, sent->reference, status,
                              trial->how & 0x40 ? HTTP_RESPONSE_TAG : "any/1", reply,
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

    must(client >= 0 &&
             connect(client, (struct sockaddr *)&trial->address, sizeof trial->address) == 0,
         "no connection");
    return client;
}

static void attack(struct trial *trial, const uint8_t *data, size_t size, uint8_t cut)
{
    size_t step = cut ? cut : size + 1;
    int client = join(trial);

    for (size_t at = 0; at < size; at += step) {
        size_t piece = size - at < step ? size - at : step;

        if (send(client, data + at, piece, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
            break;
        work(trial);
    }
    if (cut & 1) /* half of the clients leave before the deadlines, the others after them */
        (void)close(client);
    work(trial);
    for (unsigned i = 0; i < 8; i++) {
        weir_kit_advance(trial->kit, 1000);
        work(trial);
    }
    if (!(cut & 1))
        (void)close(client);
}

static void expect_answer(struct trial *trial)
{
    int client = join(trial);
    char text[512] = "";
    ssize_t got = -1;

    trial->how = 0;
    must(send(client, HONEST, strlen(HONEST), MSG_NOSIGNAL) == (ssize_t)strlen(HONEST), "send");
    for (unsigned i = 0; i < HONEST_POLLS_MAX && got < 0; i++) {
        work(trial);
        got = recv(client, text, sizeof text - 1, MSG_DONTWAIT);
    }
    must(got > 0 && strncmp(text, "HTTP/1.1 200 ", 13) == 0, "an honest client has no answer");
    (void)close(client);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct trial trial = { .address.sun_family = AF_UNIX };
    char *path = trial.address.sun_path;

    if (size < 2)
        return 0;
    trial.how = data[1];
    (void)snprintf(path, sizeof trial.address.sun_path, "/tmp/weir-fuzz-%ld", (long)getpid());
    trial.kit = weir_kit_create(&weir_plugin_v1, "server");
    must(trial.kit && weir_kit_open_format(trial.kit,
                                           "listen: \"unix:%s\"\nidle: 2s\nreceive: 2s\nsend: 2s\n"
                                           "timeout: 2s\nheader_max: 2KiB\nbody_max: 64\n"
                                           "bodies_max: 8KiB\nheaders: [X-A]\nroutes: {/r: r}",
                                           path) == 0,
         "open");
    must(weir_kit_produce(trial.kit, 1) == WEIR_WAIT, "produce");
    attack(&trial, data + 2, size - 2, data[0]);
    expect_answer(&trial);
    must(weir_kit_destroy(trial.kit) == 0, "the kit has found problems");
    (void)unlink(path);
    return 0;
}
