/* SPDX-License-Identifier: MIT */
/*
 * trouble - a user of a pool of connections that leaves each lease in another wrong way, in the
 * middle of a transaction that makes money. A use of a lease that is over is written to the log as
 * an error when it succeeds.
 */
#include <inttypes.h>

#include "examples/pgpool/pgpool.h"

#define TIMEOUT_MS 60000u

enum trouble {
    TROUBLE_CRASH,  /* the holder crashes */
    TROUBLE_KILL,   /* it is killed */
    TROUBLE_END,    /* it ends */
    TROUBLE_RETURN, /* it returns the connection as if nothing were */
    TROUBLE_LATE,   /* and goes on to use it */
    TROUBLE_HOLD,   /* it holds the connection until the lease is revoked */
    TROUBLES,
};

struct settings {
    const char *connections;
};

struct state {
    const struct settings *settings; /* borrowed until close */
    const struct weir_tag *query;
    const struct weir_message *job; /* kept */
    struct weir_lease lease;
    enum trouble trouble;
};

static int trouble_open(struct weir_self *self, const void *settings, void *memory)
{
    struct state *state = memory;

    state->settings = settings;
    state->query = weir_tag(self, PGPOOL_QUERY_TAG);
    return state->query ? 0 : WEIR_ENOMEM;
}

static int query(struct weir_self *self, struct state *state, const char *text, weir_then *then)
{
    struct weir_message *message = pgpool_query(self, state->query, &text, 1);
    int status = WEIR_ENOMEM;

    if (message)
        status = weir_lease_request(self, &state->lease, message, TIMEOUT_MS, then, NULL, NULL);
    if (status != 0)
        weir_message_free(self, message);
    return status;
}

static void settle(struct weir_self *self, struct state *state)
{
    const struct weir_message *job = state->job;

    state->job = NULL;
    (void)weir_settle(self, job, WEIR_DONE);
}

static void ignore(struct weir_self *self, void *memory, void *context,
                   const struct weir_reply *reply)
{
    (void)self;
    (void)memory;
    (void)context;
    (void)reply;
}

/* The lease is over. */
static void use_late(struct weir_self *self, struct state *state)
{
    int status = query(self, state, "UPDATE accounts SET balance = 0 /* late */", ignore);

    if (status != WEIR_ENOTALLOWED)
        weir_log(self, WEIR_LOG_ERROR, "late use", weir_int("status", status));
    settle(self, state);
}

/* The monitor reports the revocation, unless the lease is over already. */
static void hold(struct weir_self *self, struct state *state)
{
    if (weir_monitor(self, state->lease.member, NULL) != 0)
        (void)weir_exit(self, weir_pid_of(self), WEIR_END_CRASH);
    else if (weir_lease_renew(self, &state->lease) != 0)
        settle(self, state);
}

/* The transaction has made money. */
static void leave(struct weir_self *self, struct state *state)
{
    switch (state->trouble) {
    case TROUBLE_CRASH:
        (void)weir_exit(self, weir_pid_of(self), WEIR_END_CRASH);
        break;
    case TROUBLE_KILL:
        (void)weir_exit(self, weir_pid_of(self), WEIR_END_KILL);
        break;
    case TROUBLE_END:
        (void)weir_exit(self, weir_pid_of(self), WEIR_END_NORMAL);
        break;
    case TROUBLE_RETURN:
        (void)weir_return(self, &state->lease, WEIR_DONE);
        settle(self, state);
        break;
    case TROUBLE_LATE:
        (void)weir_return(self, &state->lease, WEIR_DONE);
        use_late(self, state);
        break;
    default:
        hold(self, state);
        break;
    }
}

/* A statement may fail, for the server comes and goes: the trouble is made all the same. */
static void made(struct weir_self *self, void *memory, void *context,
                 const struct weir_reply *reply)
{
    struct state *state = memory;

    (void)context;
    weir_log(self, WEIR_LOG_INFO, "trouble", weir_int("kind", state->trouble),
             weir_str("money", weir_status_name(reply->status)));
    leave(self, state);
}

static void begun(struct weir_self *self, void *memory, void *context,
                  const struct weir_reply *reply)
{
    struct state *state = memory;
    char text[128];

    (void)context;
    (void)reply;
    snprintf(text, sizeof text,
             "UPDATE accounts SET balance = balance + 1000000 WHERE id = 0 /* %s lease=%" PRIu64
             " */",
             weir_path(self), state->lease.token);
    if (query(self, state, text, made) != 0)
        settle(self, state); /* revoked meanwhile */
}

static void took(struct weir_self *self, void *memory, void *context,
                 const struct weir_reply *reply)
{
    struct state *state = memory;

    (void)context;
    if (weir_lease_of(reply))
        state->lease = *weir_lease_of(reply);
    if (!weir_lease_of(reply) || query(self, state, "BEGIN", begun) != 0)
        settle(self, state);
}

static int trouble_handle(struct weir_self *self, void *memory, const struct weir_message *message)
{
    struct state *state = memory;
    weir_pid pool;

    if (message->kind == WEIR_DOWN) {
        if (state->job && state->trouble == TROUBLE_HOLD)
            use_late(self, state);
        return WEIR_DONE;
    }
    state->trouble = (enum trouble)(*(const uint64_t *)message->data % TROUBLES);
    if (weir_lookup(self, state->settings->connections, &pool) != 0 ||
        weir_take(self, pool, TIMEOUT_MS, took, NULL, NULL) != 0)
        return WEIR_DONE;
    state->job = message;
    return WEIR_KEEP;
}

static const struct weir_option options[] = {
    WEIR_OPTION_POOL(struct settings, connections, .required = true,
                     .help = "the pool of connections"),
    { 0 },
};

static const struct weir_behaviour behaviours[] = {
    {
        .name = "user",
        .summary = "leaves each lease in another wrong way",
        .options = options,
        .settings_size = sizeof(struct settings),
        .state_size = sizeof(struct state),
        .open = trouble_open,
        .handle = trouble_handle,
    },
    { 0 },
};

WEIR_PLUGIN("trouble", "1.0.0", behaviours);
