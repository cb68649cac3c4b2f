/* SPDX-License-Identifier: MIT */
/*
 * plain.c - the peer of ./dev bench amqp and queue: a loop on librabbitmq, without Weir.
 *
 *     plain publish PORT QUEUE COUNT WINDOW    publishes numbers; at most WINDOW are not confirmed
 *     plain consume PORT QUEUE FILE WINDOW     acknowledges each piece, and writes to FILE how many
 *
 * The queue is there. Any failure ends the program with 1.
 */
#include <amqp.h>
#include <amqp_tcp_socket.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../client.h"

#define NOTE_EVERY 50u

static amqp_connection_state_t connect_to(int port)
{
    amqp_connection_state_t connection = amqp_new_connection();
    amqp_socket_t *socket = amqp_tcp_socket_new(connection);

    need(amqp_socket_open(socket, "127.0.0.1", port) == AMQP_STATUS_OK, "no server");
    need(amqp_login(connection, "/", 0, 131072, 0, AMQP_SASL_METHOD_PLAIN, "guest", "guest")
                 .reply_type == AMQP_RESPONSE_NORMAL,
         "no login");
    (void)amqp_channel_open(connection, 1);
    need(amqp_get_rpc_reply(connection).reply_type == AMQP_RESPONSE_NORMAL, "no channel");
    return connection;
}

/* Waits for confirms until at most `left` of `*sent` are open. */
static void wait_for_confirms(amqp_connection_state_t connection, uint64_t sent,
                              uint64_t *confirmed, uint64_t left)
{
    while (sent - *confirmed > left) {
        amqp_frame_t frame;
        const amqp_basic_ack_t *ack;

        need(amqp_simple_wait_frame(connection, &frame) == AMQP_STATUS_OK, "no confirm");
        need(frame.frame_type == AMQP_FRAME_METHOD &&
                 frame.payload.method.id == AMQP_BASIC_ACK_METHOD,
             "refused");
        ack = frame.payload.method.decoded;
        /* Single confirms may come in any order; their number is all that counts here. */
        *confirmed = ack->multiple ? ack->delivery_tag : *confirmed + 1;
        amqp_maybe_release_buffers(connection);
    }
}

static void publish(int port, const char *queue, uint64_t count, uint64_t window)
{
    amqp_connection_state_t connection = connect_to(port);
    amqp_basic_properties_t properties = {
        ._flags = AMQP_BASIC_DELIVERY_MODE_FLAG | AMQP_BASIC_MESSAGE_ID_FLAG, .delivery_mode = 2
    };
    uint64_t confirmed = 0;

    (void)amqp_confirm_select(connection, 1);
    print_time();
    for (uint64_t i = 0; i < count; i++) {
        amqp_bytes_t body = { sizeof i, &i };
        char id[32];

        (void)snprintf(id, sizeof id, "plain:%llu", (unsigned long long)i);
        properties.message_id = amqp_cstring_bytes(id);
        need(amqp_basic_publish(connection, 1, amqp_empty_bytes, amqp_cstring_bytes(queue), 1, 0,
                                &properties, body) == AMQP_STATUS_OK,
             "not published");
        wait_for_confirms(connection, i + 1, &confirmed, window - 1);
    }
    wait_for_confirms(connection, count, &confirmed, 0);
    print_time();
    (void)amqp_connection_close(connection, AMQP_REPLY_SUCCESS);
    (void)amqp_destroy_connection(connection);
}

static void note(int file, uint64_t count)
{
    need(pwrite(file, &count, sizeof count, 0) == (ssize_t)sizeof count, "no file");
}

static void consume(int port, const char *queue, const char *path, uint64_t window)
{
    amqp_connection_state_t connection = connect_to(port);
    int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    uint64_t count = 0;

    note(file, 0);
    (void)amqp_basic_qos(connection, 1, 0, (uint16_t)window, 0);
    (void)amqp_basic_consume(connection, 1, amqp_cstring_bytes(queue), amqp_empty_bytes, 0, 0, 0,
                             amqp_empty_table);
    for (;;) {
        struct timeval idle = { 0, 10000 };
        amqp_envelope_t envelope;
        amqp_rpc_reply_t reply;

        amqp_maybe_release_buffers(connection);
        reply = amqp_consume_message(connection, &envelope, &idle, 0);
        if (reply.reply_type == AMQP_RESPONSE_LIBRARY_EXCEPTION &&
            reply.library_error == AMQP_STATUS_TIMEOUT) {
            note(file, count);
            continue;
        }
        need(reply.reply_type == AMQP_RESPONSE_NORMAL, "no piece");
        need(amqp_basic_ack(connection, 1, envelope.delivery_tag, 0) == AMQP_STATUS_OK, "no ack");
        amqp_destroy_envelope(&envelope);
        if (++count % NOTE_EVERY == 0)
            note(file, count);
    }
}

int main(int count, char **words)
{
    need(count == 6, "four arguments after publish or consume");
    if (strcmp(words[1], "publish") == 0)
        publish((int)strtol(words[2], NULL, 10), words[3], strtoull(words[4], NULL, 10),
                strtoull(words[5], NULL, 10));
    else
        consume((int)strtol(words[2], NULL, 10), words[3], words[4], strtoull(words[5], NULL, 10));
    return 0;
}
