#include "exchange.h"

#include <stdlib.h>
#include <string.h>

#include "access_log.h"
#include "answer.h"
#include "question.h"

#define BODY_ROOM_MIN ((size_t)4096)

/* --- life ------------------------------------------------------------------------------------- */

void *exchange_begin(void *server, const char *uri, struct MHD_Connection *handle)
{
    struct connection *connection = connection_of(handle);
    struct exchange *exchange = connection ? calloc(1, sizeof *exchange) : NULL;

    if (!exchange)
        return NULL;
    exchange->uri = strdup(uri);
    if (!exchange->uri) {
        free(exchange);
        return NULL;
    }
    exchange->connection = connection;
    exchange->start_ms = weir_now_ms(((struct server *)server)->self);
    exchange_destroy(connection->exchange);
    connection->exchange = exchange;
    connection_enter(connection, CONNECTION_RECEIVING);
    return exchange;
}

static void drop_body(struct exchange *exchange)
{
    exchange->connection->server->body_bytes -= exchange->body_room;
    free(exchange->body);
    exchange->body = NULL;
    exchange->body_size = exchange->body_room = 0;
}

void exchange_destroy(struct exchange *exchange)
{
    if (!exchange)
        return;
    drop_body(exchange);
    if (exchange->response)
        MHD_destroy_response(exchange->response);
    free(exchange->uri);
    free(exchange);
}

void exchange_end(void *server, struct MHD_Connection *handle, void **context,
                  enum MHD_RequestTerminationCode code)
{
    struct exchange *exchange = *context;
    struct connection *connection;

    (void)handle;
    if (!exchange)
        return;
    if (code != MHD_REQUEST_TERMINATED_COMPLETED_OK)
        exchange->is_lost = true;
    access_log_write(server, exchange);
    connection = exchange->connection;
    connection->exchange = NULL;
    *context = NULL;
    exchange_destroy(exchange);
    connection_enter(connection, CONNECTION_IDLE);
}

/* --- the answer of the pool ------------------------------------------------------------------- */

static void resume(struct exchange *exchange)
{
    struct connection *connection = exchange->connection;

    connection->server->open_requests--;
    connection_enter(connection, CONNECTION_ANSWERING);
    exchange->stage = EXCHANGE_READY;
    MHD_resume_connection(connection->handle);
}

static void answered(struct weir_self *self, void *memory, void *context,
                     const struct weir_reply *reply)
{
    struct server *server = memory;
    struct exchange *exchange = context;

    server->self = self;
    if (reply->status == WEIR_ECANCELLED) {
        exchange->status = 499;
        connection_cut(exchange->connection);
    } else {
        (void)answer_reply(exchange, reply);
    }
    resume(exchange);
    server_run_soon(server);
}

void exchange_lose(struct exchange *exchange)
{
    struct server *server = exchange->connection->server;

    exchange->is_lost = true;
    server->figures.cancelled++;
    (void)weir_cancel(server->self, exchange->reference);
}

void exchange_abandon(struct exchange *exchange)
{
    (void)answer_text(exchange, MHD_HTTP_SERVICE_UNAVAILABLE, "the server ends");
    resume(exchange);
}

/* --- the request to the pool ------------------------------------------------------------------ */

static enum MHD_Result queue(struct exchange *exchange)
{
    enum MHD_Result queued;

    if (!exchange->response)
        return MHD_NO; /* the client left, or memory is out */
    if (exchange->connection->server->is_leaving)
        (void)MHD_add_response_header(exchange->response, MHD_HTTP_HEADER_CONNECTION, "close");
    connection_enter(exchange->connection, CONNECTION_ANSWERING);
    queued = MHD_queue_response(exchange->connection->handle, exchange->status, exchange->response);
    MHD_destroy_response(exchange->response);
    exchange->response = NULL;
    return queued;
}

static enum MHD_Result refuse(struct exchange *exchange, unsigned status, const char *text)
{
    (void)answer_text(exchange, status, text);
    return queue(exchange);
}

/* Sends the message without a reply: 202. */
static enum MHD_Result hand_over(struct server *server, struct exchange *exchange, weir_pid to,
                                 struct weir_message *message)
{
    int status = weir_send(server->self, to, message);

    if (status == 0)
        return refuse(exchange, MHD_HTTP_ACCEPTED, "accepted");
    weir_message_free(server->self, message);
    (void)answer_refusal(exchange, status);
    return queue(exchange);
}

static enum MHD_Result ask(struct server *server, struct exchange *exchange, weir_pid to,
                           struct weir_message *message)
{
    int status = weir_request(server->self, to, message, server->settings->timeout, answered,
                              exchange, &exchange->reference);

    if (status != 0) {
        weir_message_free(server->self, message);
        (void)answer_refusal(exchange, status);
        return queue(exchange);
    }
    exchange->stage = EXCHANGE_REQUESTING;
    server->open_requests++;
    drop_body(exchange);
    connection_enter(exchange->connection, CONNECTION_REQUESTING);
    MHD_suspend_connection(exchange->connection->handle);
    if (exchange->connection->has_left)
        exchange_lose(exchange);
    return MHD_YES;
}

/* The request is whole. */
static enum MHD_Result dispatch(struct server *server, struct exchange *exchange)
{
    struct weir_message *message;
    weir_pid to = 0;
    int status;

    server->figures.received++;
    if (exchange->body_refusal)
        return refuse(exchange, exchange->body_refusal,
                      question_body_reason(exchange->body_refusal));
    status = question_target(server, exchange->uri, &to);
    if (status != 0) {
        (void)answer_refusal(exchange, status);
        return queue(exchange);
    }
    message = question_create(server, exchange);
    if (!message)
        return refuse(exchange, MHD_HTTP_SERVICE_UNAVAILABLE, "out of memory");
    return server->settings->mode == SERVER_ACCEPT ? hand_over(server, exchange, to, message)
                                                   : ask(server, exchange, to, message);
}

/* --- receiving -------------------------------------------------------------------------------- */

static bool grow(struct server *server, struct exchange *exchange, size_t needed)
{
    size_t room = exchange->body_room ? exchange->body_room * 2 : BODY_ROOM_MIN;
    char *body;

    if (room < needed)
        room = needed;
    if (server->body_bytes - exchange->body_room + room > server->settings->bodies_max)
        return false;
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
    exchange->body_refusal = status;
    drop_body(exchange);
}

static void add(struct server *server, struct exchange *exchange, const char *data, size_t size)
{
    if (exchange->body_refusal)
        return;
    if (size > server->settings->body_max - exchange->body_size) {
        refuse_body(exchange, MHD_HTTP_CONTENT_TOO_LARGE);
        return;
    }
    if (size > exchange->body_room - exchange->body_size &&
        !grow(server, exchange, exchange->body_size + size)) {
        refuse_body(exchange, MHD_HTTP_SERVICE_UNAVAILABLE);
        return;
    }
    memcpy(exchange->body + exchange->body_size, data, size);
    exchange->body_size += size;
}

/* The head of a request is there. */
static enum MHD_Result begin(struct server *server, struct exchange *exchange, const char *method)
{
    const char *reason;
    unsigned status;

    exchange->method = method;
    exchange->stage = EXCHANGE_BODY;
    if (question_is_health(server, exchange->uri))
        return refuse(exchange, MHD_HTTP_OK, "ok");
    status = question_check(server, exchange, &reason);
    if (status == 0)
        return MHD_YES;
    server->figures.received++;
    return refuse(exchange, status, reason);
}

enum MHD_Result exchange_receive(void *context_of_server, struct MHD_Connection *handle,
                                 const char *url, const char *method, const char *version,
                                 const char *data, size_t *size, void **context)
{
    struct server *server = context_of_server;
    struct exchange *exchange = *context;

    (void)handle;
    (void)url;
    (void)version;
    if (!exchange)
        return MHD_NO; /* memory was out */
    if (exchange->stage == EXCHANGE_NEW)
        return begin(server, exchange, method);
    if (exchange->stage == EXCHANGE_READY)
        return queue(exchange);
    if (*size == 0)
        return dispatch(server, exchange);
    add(server, exchange, data, *size);
    *size = 0;
    return MHD_YES;
}
