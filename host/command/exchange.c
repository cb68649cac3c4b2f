/* SPDX-License-Identifier: MIT */
#include "host/command/exchange.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "host/control/control_socket.h"
#include "host/control/http.h"

#define NS_PER_MS UINT64_C(1000000)
#define MS_PER_S 1000u

/* An answer while it arrives. */
struct hearing {
    struct http_message message;
    FILE *stream;
    bool is_over; /* complete, or not an answer */
};

static uint32_t timeout_ms(const struct exchange *exchange)
{
    return (exchange->timeout_s ? exchange->timeout_s : EXCHANGE_TIMEOUT_S) * MS_PER_S;
}

/* --- requests ------------------------------------------------------------------------------- */

/* A descriptor, or a negative errno. */
static int connect_to(const struct exchange *exchange, struct answer *out)
{
    struct timeval timeout = { .tv_sec = timeout_ms(exchange) / MS_PER_S };
    int descriptor = control_socket_connect(exchange->path, timeout_ms(exchange));

    if (descriptor < 0)
        return descriptor;
    if (!control_socket_is_trusted(descriptor, exchange->path, &out->stranger)) {
        close(descriptor);
        return -EPERM;
    }
    (void)setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
    return descriptor;
}

/* Sends the request. A send error is no error yet: a host that refuses us answers before it
 * reads. */
static void send_all(int descriptor, const char *text, size_t size)
{
    while (size > 0) {
        ssize_t sent = send(descriptor, text, size, MSG_NOSIGNAL);

        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return;
        text += sent;
        size -= (size_t)sent;
    }
}

static void send_request(const struct exchange *exchange, int descriptor)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);

    if (!stream)
        return;
    fprintf(stream,
            "%s %s HTTP/1.1\r\nHost: weir\r\nAccept: %s\r\nContent-Length: %zu\r\n"
            "Connection: close\r\n\r\n",
            exchange->is_post ? "POST" : "GET", exchange->target,
            exchange->wants_json ? "application/json" : "text/plain", exchange->body_size);
    if (exchange->body_size > 0)
        (void)fwrite(exchange->body, 1, exchange->body_size, stream);
    if (fclose(stream) == 0)
        send_all(descriptor, text, size);
    free(text);
}

/* --- hearing -------------------------------------------------------------------------------- */

static bool is_complete(const struct hearing *hearing)
{
    return hearing->message.head.reading.result == HTTP1_DONE &&
           hearing->message.body.result == HTTP1_DONE;
}

static void hear_body(struct hearing *hearing, const char *bytes, size_t size)
{
    struct http1_body *body = &hearing->message.body;

    while (body->result == HTTP1_MORE && size > 0) {
        struct http1_piece piece;

        (void)http1_body_read(body, bytes, size, &piece);
        if (piece.size > 0 && fwrite(piece.data, 1, piece.size, hearing->stream) != piece.size)
            hearing->is_over = true;
        bytes += piece.used;
        size -= piece.used;
    }
    hearing->is_over = hearing->is_over || body->result != HTTP1_MORE;
}

static void hear_piece(struct hearing *hearing, const char *bytes, size_t size)
{
    enum http1_result result = hearing->message.head.reading.result;
    size_t used = 0;

    if (result == HTTP1_MORE)
        result = http_message_read(&hearing->message, bytes, size, &used);
    if (result == HTTP1_DONE)
        hear_body(hearing, bytes + used, size - used);
    else
        hearing->is_over = result != HTTP1_MORE;
}

static uint64_t now_ms(void)
{
    struct clock clock = clock_monotonic();

    return clock_now_ns(&clock) / NS_PER_MS;
}

/* False: nothing arrived until `due_ms`. */
static bool is_readable(int descriptor, uint64_t due_ms)
{
    struct pollfd waited_for = { .fd = descriptor, .events = POLLIN };
    uint64_t now = now_ms();
    int ready = 0;

    do {
        ready = poll(&waited_for, 1, now < due_ms ? (int)(due_ms - now) : 0);
        now = now_ms();
    } while (ready < 0 && errno == EINTR && now < due_ms);
    return ready > 0;
}

static bool is_alive(const struct exchange *exchange)
{
    struct exchange probe = { .path = exchange->path,
                              .target = "/livez",
                              .timeout_s = EXCHANGE_TIMEOUT_S };
    struct answer answer;
    bool is = exchange_run(&probe, &answer) == 0 && answer.status == HTTP_STATUS_OK;

    exchange_finish(&answer);
    return is;
}

/* False: the host did not answer in time. Without a time-out waits while the host is alive. */
static bool await(const struct exchange *exchange, int descriptor, uint64_t *due_ms)
{
    while (!is_readable(descriptor, *due_ms)) {
        if (exchange->timeout_s || !is_alive(exchange))
            return false;
        *due_ms = now_ms() + timeout_ms(exchange);
    }
    return true;
}

/* Reads until the answer is complete, the host closes, or the time is over. */
static void hear(const struct exchange *exchange, int descriptor, struct hearing *hearing)
{
    uint64_t due_ms = now_ms() + timeout_ms(exchange);
    char bytes[4096];
    ssize_t size = 1;

    http_message_init_answer(&hearing->message);
    while (size > 0 && !hearing->is_over && await(exchange, descriptor, &due_ms)) {
        size = recv(descriptor, bytes, sizeof bytes, 0);
        if (size > 0)
            hear_piece(hearing, bytes, (size_t)size);
    }
}

int exchange_run(const struct exchange *exchange, struct answer *out)
{
    struct hearing hearing = { .is_over = false };
    int descriptor;

    *out = (struct answer){ .status = 0 };
    descriptor = connect_to(exchange, out);
    if (descriptor < 0)
        return descriptor;
    hearing.stream = open_memstream(&out->text, &out->size);
    if (hearing.stream) {
        send_request(exchange, descriptor);
        hear(exchange, descriptor, &hearing);
        if (fclose(hearing.stream) == 0 && is_complete(&hearing))
            out->status = hearing.message.head.status;
    }
    close(descriptor);
    return hearing.stream ? 0 : -ENOMEM;
}

void exchange_finish(struct answer *answer)
{
    free(answer->text);
    *answer = (struct answer){ .status = 0 };
}
