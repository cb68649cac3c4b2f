/* SPDX-License-Identifier: MIT */
/*
 * The behaviour pgpool.bank: makes each transfer in one transaction, with a connection of its own
 * for the duration of the transfer. A transfer that was made before is not made again: its id is in
 * the table.
 */
#include <inttypes.h>
#include <string.h>

#include "pgpool.h"

#define RETRY_MS 100u
/* Class 23 of the codes of PostgreSQL: the data forbid it, so another try would end alike. */
#define FORBIDDEN "23"

enum text {
    TEXT_ID,
    TEXT_SOURCE,
    TEXT_TARGET,
    TEXT_AMOUNT,
    TEXTS,
};

struct settings {
    const char *connections;
    uint64_t take_timeout;
    uint64_t timeout;
};

struct state {
    const struct settings *settings; /* borrowed until close */
    const struct weir_tag *transfer;
    const struct weir_tag *query;
    const struct weir_message *job; /* kept */
    struct weir_lease lease;        /* from the answer to the take until the return */
    uint32_t step;
    char texts[TEXTS][24];
    uint64_t made;
};

static const struct step {
    const char *statement;
    uint32_t count; /* of its parameters */
    uint8_t parameters[TEXTS];
} steps[] = {
    { "BEGIN", 0, { 0 } },
    { "INSERT INTO transfers (id, source, target, amount) VALUES ($1, $2, $3, $4)"
      " ON CONFLICT DO NOTHING",
      4,
      { TEXT_ID, TEXT_SOURCE, TEXT_TARGET, TEXT_AMOUNT } },
    /* Both rows in one order, so that no two transfers wait for each other. NO KEY: the keys of the
     * rows are shared already, by the INSERT. */
    { "SELECT FROM accounts WHERE id IN ($1, $2) ORDER BY id FOR NO KEY UPDATE",
      2,
      { TEXT_SOURCE, TEXT_TARGET } },
    { "UPDATE accounts SET balance = balance - $1 WHERE id = $2", 2, { TEXT_AMOUNT, TEXT_SOURCE } },
    { "UPDATE accounts SET balance = balance + $1 WHERE id = $2", 2, { TEXT_AMOUNT, TEXT_TARGET } },
    { "COMMIT", 0, { 0 } },
};
#define STEP_COUNT (sizeof steps / sizeof steps[0])
#define STEP_INSERT 1u

static int bank_open(struct weir_self *self, const void *settings, void *memory)
{
    struct state *state = memory;

    state->settings = settings;
    state->transfer = weir_tag(self, PGPOOL_TRANSFER_TAG);
    state->query = weir_tag(self, PGPOOL_QUERY_TAG);
    return state->transfer && state->query ? 0 : WEIR_ENOMEM;
}

/* The job has ended, and the next one may come. */
static void end_job(struct weir_self *self, struct state *state, int verdict)
{
    const struct weir_message *job = state->job;

    state->job = NULL;
    if (verdict == WEIR_RETRY)
        weir_retry_after(self, RETRY_MS);
    (void)weir_settle(self, job, verdict);
}

/* UNKNOWN means that the lease was over before, with whatever it had begun. */
static void end_lease(struct weir_self *self, struct state *state, int how, int verdict)
{
    (void)weir_return(self, &state->lease, how);
    end_job(self, state, verdict);
}

static void answered(struct weir_self *self, void *memory, void *context,
                     const struct weir_reply *reply);

/* The remark shows the holder in the server: in pg_stat_activity, and in its log. */
static int send_step(struct weir_self *self, struct state *state)
{
    const struct step *step = &steps[state->step];
    const char *texts[TEXTS + 1];
    char statement[256];
    struct weir_message *message;
    int status;

    snprintf(statement, sizeof statement, "%s /* %s lease=%" PRIu64 " */", step->statement,
             weir_path(self), state->lease.token);
    texts[0] = statement;
    for (uint32_t i = 0; i < step->count; i++)
        texts[i + 1] = state->texts[step->parameters[i]];
    message = pgpool_query(self, state->query, texts, step->count + 1);
    if (!message)
        return WEIR_ENOMEM;
    status = weir_lease_request(self, &state->lease, message, state->settings->timeout, answered,
                                NULL, NULL);
    if (status != 0)
        weir_message_free(self, message);
    return status;
}

static void next_step(struct weir_self *self, struct state *state)
{
    if (send_step(self, state) != 0)
        end_lease(self, state, WEIR_DONE, WEIR_RETRY);
}

/* Ends the transaction: the connection rolls back all of its statements. */
static void fail_step(struct weir_self *self, struct state *state, const struct weir_reply *reply)
{
    bool forbidden = reply->status == WEIR_EREJECTED &&
                     strncmp(reply->detail, FORBIDDEN, strlen(FORBIDDEN)) == 0;
    /* A statement that has not answered in time may still run: the next holder must not wait. */
    int how = reply->status == WEIR_ETIMEOUT ? WEIR_FAIL : WEIR_DONE;

    if (forbidden)
        weir_reason(self, "%s", reply->detail);
    end_lease(self, state, how, forbidden ? WEIR_REJECT : WEIR_RETRY);
}

static void answered(struct weir_self *self, void *memory, void *context,
                     const struct weir_reply *reply)
{
    struct state *state = memory;
    const struct pgpool_result *result;

    (void)context;
    if (reply->status != 0) {
        fail_step(self, state, reply);
        return;
    }
    result = reply->message->data;
    if (state->step == STEP_INSERT && result->affected == 0) {
        end_lease(self, state, WEIR_DONE, WEIR_DONE); /* an earlier attempt has made it */
    } else if (++state->step < STEP_COUNT) {
        next_step(self, state);
    } else {
        state->made++;
        end_lease(self, state, WEIR_DONE, WEIR_DONE);
    }
}

static void took(struct weir_self *self, void *memory, void *context,
                 const struct weir_reply *reply)
{
    struct state *state = memory;

    (void)context;
    if (!weir_lease_of(reply)) {
        end_job(self, state, WEIR_RETRY);
        return;
    }
    state->lease = *weir_lease_of(reply);
    state->step = 0;
    next_step(self, state);
}

static void write_texts(struct state *state, const struct pgpool_transfer *transfer)
{
    const uint64_t numbers[TEXTS] = { transfer->id, transfer->source, transfer->target,
                                      transfer->amount };

    for (uint32_t i = 0; i < TEXTS; i++)
        snprintf(state->texts[i], sizeof state->texts[i], "%" PRIu64, numbers[i]);
}

/* A reload may have put another pool in this place, so its PID is not kept. */
static int take(struct weir_self *self, const struct settings *settings)
{
    weir_pid pool;
    int status = weir_lookup(self, settings->connections, &pool);

    return status == 0 ? weir_take(self, pool, settings->take_timeout, took, NULL, NULL) : status;
}

static int bank_handle(struct weir_self *self, void *memory, const struct weir_message *message)
{
    struct state *state = memory;

    if (message->tag != state->transfer || message->size != sizeof(struct pgpool_transfer))
        return WEIR_REJECT;
    write_texts(state, message->data);
    if (take(self, state->settings) != 0) {
        weir_retry_after(self, RETRY_MS);
        return WEIR_RETRY;
    }
    state->job = message;
    return WEIR_KEEP;
}

static void bank_inspect(struct weir_self *self, void *memory, struct weir_inspection *out)
{
    const struct state *state = memory;

    (void)self;
    weir_inspect_add(out, "made", "%" PRIu64, state->made);
}

static const struct weir_option options[] = {
    WEIR_OPTION_POOL(struct settings, connections, .help = "the pool of connections",
                     .required = true),
    WEIR_OPTION_DURATION(struct settings, take_timeout, .help = "how long to wait for a connection",
                         .fallback = "5s", .min = 1, .max = 3600000),
    WEIR_OPTION_DURATION(struct settings, timeout, .help = "how long to wait for a statement",
                         .fallback = "5s", .min = 1, .max = 3600000),
    { 0 },
};

const struct weir_behaviour pgpool_bank = {
    .name = "bank",
    .summary = "makes transfers between accounts, each in a transaction",
    .options = options,
    .settings_size = sizeof(struct settings),
    .state_size = sizeof(struct state),
    .open = bank_open,
    .handle = bank_handle,
    .inspect = bank_inspect,
};
