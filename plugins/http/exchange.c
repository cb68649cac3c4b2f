/* SPDX-License-Identifier: MIT */
#include "exchange.h"

#include <stdlib.h>
#include <string.h>

#include "access_log.h"
#include "answer.h"
#include "connection_output.h"
#include "connection_work.h"
#include "places.h"
#include "question.h"
#include "stored.h"

#define BODY_ROOM_MIN ((size_t)4096)

/* --- life ------------------------------------------------------------------------------------- */

/* Path and query; a target without a path has the path `/`. */
static char *copy_resource(const struct http1_head *head, const char *text)
{
    const char *resource = text + head->resource.at;
    size_t size = head->resource.size, slash = size == 0 || resource[0] != '/';
    char *uri = malloc(slash + size + 1);

    if (!uri)
        return NULL;
    uri[0] = head->is_asterisk ? '*' : '/';
    memcpy(uri + slash, resource, size);
    uri[slash + size] = '\0';
    return uri;
}

/* NULL: memory is out, and the connection ends. */
static struct exchange *create(struct connection *connection)
{
    struct exchange *exchange = calloc(1, sizeof *exchange);

    if (!exchange) {
        connection->has_left = true;
        return NULL;
    }
    exchange->connection = connection;
    exchange->start_ms = weir_now_ms(connection->server->self);
    connection->exchange = exchange;
    return exchange;
}

static void drop_body(struct exchange *exchange)
{
    exchange->connection->server->body_bytes -= exchange->body_room;
    free(exchange->body);
    exchange->body = NULL;
    exchange->body_size = exchange->body_room = 0;
}

void exchange_end(struct exchange *exchange, bool is_sent)
{
    exchange->is_lost = exchange->is_lost || !is_sent;
    exchange->answer_size -= connection_unsent(exchange->connection, exchange->answer_size);
    access_log_write(exchange->connection->server, exchange);
    drop_body(exchange);
    exchange->connection->exchange = NULL;
    free(exchange->uri);
    free(exchange);
}

/* NULL: there is none, or memory is out. */
static char *copy_text(const char *text, size_t size)
{
    char *copy = size > 0 ? malloc(size + 1) : NULL;

    if (!copy)
        return NULL;
    memcpy(copy, text, size);
    copy[size] = '\0';
    return copy;
}

/* What is known of a request whose head is wrong: for the answer to HEAD, and the access log. */
static void take_request_line(struct exchange *exchange)
{
    const struct receipt *receipt = exchange->connection->receipt;

    if (exchange->method[0] || !receipt || receipt->head.target.at == 0)
        return;
    memcpy(exchange->method, receipt->text + receipt->head.method.at, receipt->head.method.size);
    exchange->uri = copy_text(receipt->text + receipt->head.target.at, receipt->head.target.size);
}

/* --- answers ---------------------------------------------------------------------------------- */

/* A request that is not read to its end leaves bytes in the socket that are none of the next. */
static void decide_to_close(struct connection *connection)
{
    const struct receipt *receipt = connection->receipt;

    connection->closes = connection->server->is_leaving || connection->closes ||
                         (receipt && (receipt->head.reading.result != HTTP1_DONE ||
                                      receipt->body.result != HTTP1_DONE || !receipt->head.keeps));
}

static void refuse(struct exchange *exchange, unsigned status, const char *words)
{
    decide_to_close(exchange->connection);
    answer_text(exchange, status, words);
}

void exchange_refuse(struct connection *connection, unsigned status, const char *words)
{
    struct exchange *exchange = connection->exchange ? connection->exchange : create(connection);

    if (!exchange)
        return;
    take_request_line(exchange);
    drop_body(exchange);
    connection->server->figures.received++;
    connection->closes = true;
    answer_text(exchange, status, words);
}

void exchange_expire(struct exchange *exchange)
{
    struct connection *connection = exchange->connection;

    if (connection->server->is_leaving)
        exchange_refuse(connection, 503, "the server ends");
    else
        exchange_refuse(connection, 408, "the request has taken too long");
    connection_work(connection);
}

void exchange_give_up_body(struct exchange *exchange)
{
    struct connection *connection = exchange->connection;

    exchange_refuse(connection, 503, question_body_reason(503));
    connection_work(connection);
}

void exchange_refuse_by_pool(struct exchange *exchange, int status)
{
    decide_to_close(exchange->connection);
    answer_refusal(exchange, status);
}

bool exchange_return(struct exchange *exchange)
{
    struct connection *connection = exchange->connection;

    connection->server->open_requests--;
    connection_enter(connection, CONNECTION_ANSWERING);
    if (connection->descriptor >= 0) {
        decide_to_close(connection);
        return true;
    }
    exchange->status = 499;
    connection_end(connection);
    return false;
}

static void answered(struct weir_self *self, void *memory, void *context,
                     const struct weir_reply *reply)
{
    struct server *server = memory;
    struct exchange *exchange = context;
    struct connection *connection = exchange->connection;

    server->self = self;
    if (exchange_return(exchange)) {
        answer_reply(exchange, reply);
        connection_work(connection);
    }
}

void exchange_lose(struct exchange *exchange)
{
    struct server *server = exchange->connection->server;

    if (exchange->is_lost)
        return;
    exchange->is_lost = true;
    if (exchange->waiting.token)
        return;
    server->figures.cancelled++;
    (void)weir_cancel(server->self, exchange->reference);
}

void exchange_abandon(struct exchange *exchange)
{
    stored_forget(exchange);
    exchange->connection->server->open_requests--;
    refuse(exchange, 503, "the server ends");
}

/* --- the request to the pool ------------------------------------------------------------------ */

/* Sends the message without a reply: 202. */
static void hand_over(struct server *server, struct exchange *exchange, weir_pid to,
                      struct weir_message *message)
{
    int status = weir_send(server->self, to, message);

    if (status == 0) {
        refuse(exchange, 202, "accepted");
        return;
    }
    weir_message_free(server->self, message);
    exchange_refuse_by_pool(exchange, status);
}

static void ask(struct server *server, struct exchange *exchange, weir_pid to,
                struct weir_message *message)
{
    int status = weir_request(server->self, to, message, server->settings->timeout, answered,
                              exchange, &exchange->reference);

    if (status != 0) {
        weir_message_free(server->self, message);
        exchange_refuse_by_pool(exchange, status);
        return;
    }
    server->open_requests++;
    drop_body(exchange);
    connection_enter(exchange->connection, CONNECTION_REQUESTING);
}

void exchange_dispatch(struct exchange *exchange)
{
    struct server *server = exchange->connection->server;
    struct weir_message *message;
    weir_pid to = 0;
    int status;

    server->figures.received++;
    status = question_target(server, exchange->uri, &to);
    if (status != 0) {
        exchange_refuse_by_pool(exchange, status);
        return;
    }
    message = question_create(server, exchange);
    if (!message)
        refuse(exchange, 503, "out of memory");
    else if (server->settings->mode == SERVER_ACCEPT)
        hand_over(server, exchange, to, message);
    else if (server->settings->mode == SERVER_STORED)
        stored_send(exchange, to, message);
    else
        ask(server, exchange, to, message);
}

/* --- receiving -------------------------------------------------------------------------------- */

/* What a body may have beside all others. */
static uint64_t room_left(const struct server *server, const struct exchange *exchange)
{
    return server->settings->bodies_max - (server->body_bytes - exchange->body_room);
}

/* Half bodies that do not go on leave room for others, if that is enough. */
static bool make_room(struct server *server, const struct exchange *exchange, uint64_t needed)
{
    uint64_t left = room_left(server, exchange);

    if (needed > left && needed - left > places_held_by_bodies(server, exchange->connection))
        return false;
    while (needed > room_left(server, exchange))
        if (!places_give_up_body(server, exchange->connection))
            return false;
    return true;
}

static bool grow(struct server *server, struct exchange *exchange, size_t needed)
{
    size_t room = exchange->body_room ? exchange->body_room * 2 : BODY_ROOM_MIN;
    uint64_t left;
    char *body;

    if (!make_room(server, exchange, needed))
        return false;
    left = room_left(server, exchange);
    if (room < needed)
        room = needed;
    if (room > left)
        room = (size_t)left;
    if (room > server->settings->body_max && needed <= server->settings->body_max)
        room = (size_t)server->settings->body_max;
    body = realloc(exchange->body, room);
    if (!body)
        return false;
    server->body_bytes += room - exchange->body_room;
    exchange->body = body;
    exchange->body_room = room;
    return true;
}

static void refuse_body(struct exchange *exchange, unsigned status)
{
    exchange->connection->server->figures.received++;
    refuse(exchange, status, question_body_reason(status));
}

void exchange_add(struct exchange *exchange, const char *data, size_t size)
{
    struct server *server = exchange->connection->server;

    if (size > server->settings->body_max - exchange->body_size) {
        refuse_body(exchange, 413);
        return;
    }
    if (size > exchange->body_room - exchange->body_size &&
        !grow(server, exchange, exchange->body_size + size)) {
        refuse_body(exchange, 503);
        return;
    }
    exchange->progress_ms = weir_now_ms(server->self);
    memcpy(exchange->body + exchange->body_size, data, size);
    exchange->body_size += size;
}

void exchange_begin(struct connection *connection)
{
    struct server *server = connection->server;
    const struct receipt *receipt = connection->receipt;
    const struct http1_head *head = &receipt->head;
    struct exchange *exchange = create(connection);
    bool has_place = connection_take_place(connection);
    const char *reason;
    unsigned status;

    if (!exchange)
        return;
    connection->closes = connection->closes || !has_place;
    memcpy(exchange->method, receipt->text + head->method.at, head->method.size);
    exchange->uri = copy_resource(head, receipt->text);
    if (!exchange->uri) {
        connection->has_left = true;
        return;
    }
    if (head->is_asterisk || question_is_health(server, exchange->uri)) {
        refuse(exchange, 200, "ok");
        return;
    }
    if (!has_place) {
        server->figures.received++;
        refuse(exchange, 503, "all connections are in use");
        return;
    }
    status = question_check(server, exchange, &reason);
    if (status == 0 && head->length > room_left(server, exchange) &&
        head->length - room_left(server, exchange) > places_held_by_bodies(server, connection)) {
        status = 503;
        reason = question_body_reason(status);
    }
    if (status != 0) {
        server->figures.received++;
        refuse(exchange, status, reason);
    } else if (head->expects_continue && receipt->size == head->size &&
               receipt->body.result == HTTP1_MORE) {
        connection_let_continue(connection);
    }
}
