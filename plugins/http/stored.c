/* SPDX-License-Identifier: MIT */
#include "stored.h"

#include <stdio.h>

#include "answer.h"
#include "connection_work.h"
#include "question.h"

#define FULL_MS 10u /* until a message that comes again is offered again */

/* --- those that wait -------------------------------------------------------------------------- */

static void remember(struct exchange *exchange)
{
    struct server *server = exchange->connection->server;
    struct exchange_waiting *waiting = &exchange->waiting;

    waiting->token = ++server->last_token;
    waiting->previous = server->last_stored;
    waiting->next = NULL;
    *(waiting->previous ? &waiting->previous->waiting.next : &server->first_stored) = exchange;
    server->last_stored = exchange;
    server->open_requests++;
}

static void cancel(struct server *server, uint64_t *timer)
{
    if (*timer)
        (void)weir_cancel_timer(server->self, *timer);
    *timer = 0;
}

void stored_forget(struct exchange *exchange)
{
    struct server *server = exchange->connection->server;
    struct exchange_waiting *waiting = &exchange->waiting;

    if (!waiting->token)
        return;
    *(waiting->previous ? &waiting->previous->waiting.next : &server->first_stored) = waiting->next;
    *(waiting->next ? &waiting->next->waiting.previous : &server->last_stored) = waiting->previous;
    cancel(server, &waiting->deadline);
    cancel(server, &waiting->again);
    waiting->token = 0;
}

/* Messages end about in their order. NULL: its request is answered. */
static struct exchange *find(const struct server *server, uint64_t token)
{
    struct exchange *exchange = server->first_stored;

    while (exchange && exchange->waiting.token != token)
        exchange = exchange->waiting.next;
    return exchange;
}

static void answer(struct exchange *exchange, unsigned status, const char *words)
{
    struct connection *connection = exchange->connection;

    stored_forget(exchange);
    if (exchange_return(exchange)) {
        answer_text(exchange, status, words);
        connection_work(connection);
    }
}

static void on_deadline(struct weir_self *self, void *memory, void *context)
{
    struct server *server = memory;
    struct exchange *exchange = context;

    server->self = self;
    exchange->waiting.deadline = 0;
    answer(exchange, 504, "not done in time; it may be done later");
}

/* --- sending ---------------------------------------------------------------------------------- */

static int send_as_origin(struct exchange *exchange, struct weir_message *message)
{
    struct weir_self *self = exchange->connection->server->self;
    int status = weir_set_origin(self, message, exchange->waiting.token);

    message->attempt = exchange->waiting.attempt;
    if (status == 0)
        status = weir_send(self, exchange->waiting.to, message);
    if (status != 0)
        weir_message_free(self, message);
    return status;
}

void stored_send(struct exchange *exchange, weir_pid to, struct weir_message *message)
{
    struct server *server = exchange->connection->server;
    struct exchange_waiting *waiting = &exchange->waiting;
    int status;

    waiting->to = to;
    waiting->attempt = 1;
    remember(exchange);
    status = send_as_origin(exchange, message);
    if (status == 0) {
        connection_enter(exchange->connection, CONNECTION_REQUESTING);
        if (weir_after(server->self, server->settings->timeout, on_deadline, exchange,
                       &waiting->deadline) != 0)
            answer(exchange, 503, weir_status_text(WEIR_ENOMEM));
        return;
    }
    stored_forget(exchange);
    server->open_requests--;
    exchange_refuse_by_pool(exchange, status);
}

/* The worker asked for a retry: the message comes again. */
static void on_again(struct weir_self *self, void *memory, void *context)
{
    struct server *server = memory;
    struct exchange *exchange = context;
    struct exchange_waiting *waiting = &exchange->waiting;
    struct weir_message *message;
    int status;

    server->self = self;
    waiting->again = 0;
    message = question_create(server, exchange);
    status = message ? send_as_origin(exchange, message) : WEIR_ENOMEM;
    if (status != 0 && ((status != WEIR_EFULL && status != WEIR_ENOMEM) ||
                        weir_after(self, FULL_MS, on_again, exchange, &waiting->again) != 0))
        answer(exchange, 503, weir_status_text(status));
}

void stored_settled(struct server *server, const struct weir_outcome *outcome)
{
    struct exchange *exchange = find(server, outcome->token);
    char words[256];

    if (!exchange)
        return;
    switch (outcome->result) {
    case WEIR_OUTCOME_DONE:
        answer(exchange, 202, "done");
        break;
    case WEIR_OUTCOME_RETRY:
        exchange->waiting.attempt = (uint16_t)(outcome->attempt + 1);
        if (weir_after(server->self, outcome->delay_ms, on_again, exchange,
                       &exchange->waiting.again) != 0)
            answer(exchange, 503, weir_status_text(WEIR_ENOMEM));
        break;
    default:
        (void)snprintf(words, sizeof words, "%s%s%s", outcome->reason,
                       outcome->detail[0] ? ": " : "", outcome->detail);
        answer(exchange, 422, words);
    }
}
