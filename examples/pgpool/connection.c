/* SPDX-License-Identifier: MIT */
/*
 * The behaviour pgpool.connection: a worker holds one connection to PostgreSQL, and runs the
 * statements of its holder. Without a lease any sender can request single statements.
 */
#include <libpq-fe.h>
#include <stdlib.h>
#include <string.h>

#include "pgpool.h"

struct state {
    const struct pgpool_connection_settings *settings; /* borrowed until close */
    const struct weir_tag *query;
    const struct weir_tag *result;
    PGconn *connection;
    bool leased;
    uint64_t leases;
    uint64_t statements;
};

/* The first line of libpq's error message, which begins with the reason. */
static void give_reason(struct weir_self *self, const char *code, const char *said)
{
    weir_reason(self, "%s%s%.*s", code, *code ? " " : "", (int)strcspn(said, "\n"), said);
}

/* Notices of the server would go to standard error. */
static void ignore_notice(void *context, const PGresult *result)
{
    (void)context;
    (void)result;
}

static PGconn *connect_to(struct weir_self *self, const struct pgpool_connection_settings *settings)
{
    /* The later ones win, so a conninfo may have its own time-out and name. */
    const char *const names[] = { "connect_timeout", "application_name", "dbname", NULL };
    const char *const values[] = { "5", weir_path(self), settings->conninfo, NULL };

    return PQconnectdbParams(names, values, 1);
}

/* A reason is short: the cause, without the words about where the server was looked for. */
static const char *why_failed(const PGconn *connection)
{
    const char *said = PQerrorMessage(connection);
    const char *cause = strstr(said, "failed: ");

    return cause ? cause + strlen("failed: ") : said;
}

static int connection_open(struct weir_self *self, const void *settings, void *memory)
{
    struct state *state = memory;

    state->settings = settings;
    state->query = weir_tag(self, PGPOOL_QUERY_TAG);
    state->result = weir_tag(self, PGPOOL_RESULT_TAG);
    if (!state->query || !state->result)
        return WEIR_ENOMEM;
    state->connection = connect_to(self, state->settings);
    if (PQstatus(state->connection) != CONNECTION_OK) {
        give_reason(self, "", why_failed(state->connection));
        PQfinish(state->connection);
        return WEIR_ECLOSED;
    }
    (void)PQsetNoticeReceiver(state->connection, ignore_notice, NULL);
    return 0;
}

/* Runs one of our own statements. */
static bool run(struct state *state, const char *statement)
{
    PGresult *result = PQexec(state->connection, statement);
    ExecStatusType status = PQresultStatus(result);

    PQclear(result);
    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
}

/* --- leases ----------------------------------------------------------------------------------- */

/* A server that has ended the connection has left word in the socket: reading it costs no round
 * trip. */
static int connection_taken(struct weir_self *self, void *memory)
{
    struct state *state = memory;

    for (int i = 0; i < 2; i++) /* the last words, and the end */
        if (!PQconsumeInput(state->connection) || PQstatus(state->connection) != CONNECTION_OK) {
            give_reason(self, "", PQerrorMessage(state->connection));
            return WEIR_FAIL;
        }
    state->leased = true;
    state->leases++;
    return 0;
}

/* Rolls back a transaction that the holder has left open. */
static bool roll_back(struct state *state)
{
    return PQtransactionStatus(state->connection) == PQTRANS_IDLE || run(state, "ROLLBACK");
}

static int connection_returned(struct weir_self *self, void *memory)
{
    struct state *state = memory;
    bool clean = roll_back(state) &&
                 (state->settings->reset[0] == '\0' || run(state, state->settings->reset));

    state->leased = false;
    if (!clean)
        give_reason(self, "", PQerrorMessage(state->connection));
    return clean ? 0 : WEIR_FAIL;
}

/* --- statements ------------------------------------------------------------------------------- */

static uint64_t size_of(const PGresult *result)
{
    uint64_t size = sizeof(struct pgpool_result);

    for (int row = 0; row < PQntuples(result); row++)
        for (int column = 0; column < PQnfields(result); column++)
            size += (uint64_t)PQgetlength(result, row, column) + 1;
    return size;
}

static void fill(struct weir_message *reply, PGresult *result)
{
    struct pgpool_result *head = reply->data;
    char *cell = (char *)(head + 1);

    head->rows = (uint32_t)PQntuples(result);
    head->columns = (uint32_t)PQnfields(result);
    head->affected = strtoull(PQcmdTuples(result), NULL, 10);
    for (int row = 0; row < PQntuples(result); row++)
        for (int column = 0; column < PQnfields(result); column++) {
            size_t size = (size_t)PQgetlength(result, row, column) + 1;

            memcpy(cell, PQgetvalue(result, row, column), size);
            cell += size;
        }
}

/* A requester that has gone needs no result. */
static int reply_with(struct weir_self *self, struct state *state,
                      const struct weir_message *message, PGresult *result)
{
    uint64_t size = size_of(result);
    struct weir_message *reply;

    if (message->kind != WEIR_REQUEST)
        return WEIR_DONE;
    if (size > state->settings->result_max) {
        weir_reason(self, "the result is larger than result_max");
        return WEIR_REJECT;
    }
    reply = weir_message_new(self, state->result, (size_t)size);
    if (!reply) {
        weir_reason(self, "no memory for the result");
        return WEIR_REJECT;
    }
    fill(reply, result);
    if (weir_reply(self, message, reply) != 0)
        weir_message_free(self, reply);
    return WEIR_DONE;
}

/* The statement has failed, or the connection with it. */
static int refuse(struct weir_self *self, const struct state *state, const PGresult *result)
{
    const char *code = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *text = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);

    give_reason(self, code ? code : "", text ? text : PQerrorMessage(state->connection));
    return PQstatus(state->connection) == CONNECTION_OK ? WEIR_REJECT : WEIR_FAIL;
}

static int finish(struct weir_self *self, struct state *state, const struct weir_message *message,
                  PGresult *result)
{
    switch (PQresultStatus(result)) {
    case PGRES_COMMAND_OK:
    case PGRES_TUPLES_OK:
        return reply_with(self, state, message, result);
    case PGRES_COPY_IN:
    case PGRES_COPY_OUT:
    case PGRES_COPY_BOTH:
        weir_reason(self, "COPY is not supported");
        return WEIR_FAIL; /* only a new connection leaves this state for sure */
    default:
        return refuse(self, state, result);
    }
}

/* A statement without a lease leaves no transaction to the next one. */
static int end_of_single(struct weir_self *self, struct state *state, int verdict)
{
    if (state->leased || verdict == WEIR_FAIL ||
        PQtransactionStatus(state->connection) == PQTRANS_IDLE)
        return verdict;
    weir_reason(self, "a transaction needs a lease");
    return roll_back(state) ? WEIR_REJECT : WEIR_FAIL;
}

static int connection_handle(struct weir_self *self, void *memory,
                             const struct weir_message *message)
{
    struct state *state = memory;
    const char *texts[PGPOOL_PARAMETERS_MAX + 1];
    uint32_t count = message->tag == state->query ? pgpool_unpack(message, texts) : 0;
    PGresult *result;
    int verdict;

    if (count == 0)
        return WEIR_REJECT;
    result = PQexecParams(state->connection, texts[0], (int)count - 1, NULL, texts + 1, NULL, NULL,
                          0);
    state->statements++;
    verdict = finish(self, state, message, result);
    PQclear(result);
    return end_of_single(self, state, verdict);
}

static void connection_close(struct weir_self *self, void *memory, int reason)
{
    struct state *state = memory;

    (void)self;
    (void)reason;
    PQfinish(state->connection);
}

static void connection_inspect(struct weir_self *self, void *memory, struct weir_inspection *out)
{
    const struct state *state = memory;

    (void)self;
    weir_inspect_add(out, "backend", "%d", PQbackendPID(state->connection));
    weir_inspect_add(out, "leases", "%ju", (uintmax_t)state->leases);
    weir_inspect_add(out, "statements", "%ju", (uintmax_t)state->statements);
}

static const struct weir_option options[] = {
    WEIR_OPTION_STRING(struct pgpool_connection_settings, conninfo,
                       .help = "as of libpq: host=/run/postgresql dbname=bank, or a URI",
                       .required = true, .secret = true),
    WEIR_OPTION_STRING(struct pgpool_connection_settings, reset,
                       .help = "the statement that is run when a lease is over; may be empty",
                       .fallback = "DISCARD ALL"),
    WEIR_OPTION_SIZE(struct pgpool_connection_settings, result_max,
                     .help = "a larger result is refused", .fallback = "1MiB", .min = 1024,
                     .max = 1 << 30),
    { 0 },
};

const struct weir_behaviour pgpool_connection = {
    .name = "connection",
    .summary = "holds a connection to PostgreSQL, and runs statements",
    .options = options,
    .settings_size = sizeof(struct pgpool_connection_settings),
    .state_size = sizeof(struct state),
    .flags = WEIR_BLOCKING,
    .open = connection_open,
    .handle = connection_handle,
    .close = connection_close,
    .inspect = connection_inspect,
    .taken = connection_taken,
    .returned = connection_returned,
};
