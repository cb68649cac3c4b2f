/* SPDX-License-Identifier: MIT */
/*
 * A job of uneven pieces, for pulling.py: a source that pushes or follows demand and answers
 * requests, and a worker that waits for as long as a piece says, as for a database.
 */
#include <string.h>
#include <time.h>

#include <weir/plugin.h>

#define PUSH_MAX 200u /* messages of a call without regard to demand: what the outbox holds */
#define SLOW_ONE_IN 100u
#define SLOW_US 50000u
#define QUICK_US 500u
#define RELAXED 64u      /* queued messages that do not slow the producer down */
#define PRESSURE_US 100u /* its pause for each message beyond */

struct piece {
    uint32_t wait_us;
    uint32_t fails; /* its worker fails on the first attempt */
};

struct settings {
    uint32_t pieces;
    uint32_t bytes;
    uint32_t fails_one_in;
    bool push;     /* emit although there is no room */
    bool pressure; /* pause in proportion to the length of the queue */
};

struct state {
    const struct settings *settings;
    uint64_t random;
    uint32_t next;
};

static void rest(uint64_t us)
{
    const struct timespec time = { (time_t)(us / 1000000), (long)(us % 1000000) * 1000 };

    (void)clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
}

static int source_open(struct weir_self *self, const void *settings, void *memory)
{
    struct state *state = memory;

    (void)self;
    state->settings = settings;
    state->random = 88172645463325252u; /* xorshift64: each run has the same pieces */
    return 0;
}

static int emit(struct weir_self *self, struct state *state)
{
    size_t size = sizeof(struct piece) + state->settings->bytes;
    struct weir_message *message = weir_message_new(self, NULL, size);
    struct piece *piece;
    int status;

    if (!message)
        return WEIR_ENOMEM;
    memset(message->data, 1, size); /* a record that was read: its pages are in use */
    piece = message->data;
    piece->wait_us = state->random % SLOW_ONE_IN == 0 ? SLOW_US : QUICK_US;
    piece->fails = state->next % state->settings->fails_one_in == 0;
    status = weir_emit(self, 0, message);
    if (status != 0) {
        weir_message_free(self, message);
        return status;
    }
    state->random ^= state->random << 13;
    state->random ^= state->random >> 7;
    state->random ^= state->random << 17;
    state->next++;
    return 0;
}

/* What Derek Wyatt's PressureQueue does: the producer sleeps by the length of the queue. */
static void feel_pressure(struct weir_self *self)
{
    struct weir_pool_stats stats = { .size = sizeof stats };
    weir_pid pool;

    if (weir_target(self, 0, &pool) == 0 && weir_pool_stats(self, pool, &stats) == 0 &&
        stats.queued > RELAXED)
        rest((stats.queued - RELAXED) * PRESSURE_US);
}

static int source_produce(struct weir_self *self, void *memory, uint32_t credit)
{
    struct state *state = memory;
    uint32_t count = state->settings->push ? PUSH_MAX : credit;

    for (; count > 0 && state->next < state->settings->pieces; count--) {
        int status = emit(self, state);

        if (status == WEIR_EFULL)
            break;
        if (status != 0)
            return status;
        if (state->settings->pressure)
            feel_pressure(self);
    }
    return state->next < state->settings->pieces ? WEIR_MORE : WEIR_END;
}

static int source_handle(struct weir_self *self, void *memory, const struct weir_message *message)
{
    struct weir_message *reply = weir_message_new(self, NULL, 0);

    (void)memory;
    if (reply && weir_reply(self, message, reply) != 0)
        weir_message_free(self, reply);
    return WEIR_DONE;
}

static int worker_handle(struct weir_self *self, void *memory, const struct weir_message *message)
{
    const struct piece *piece = message->data;

    (void)memory;
    if (piece->fails && message->attempt == 1) {
        weir_reason(self, "on purpose");
        return WEIR_FAIL;
    }
    rest(piece->wait_us);
    return WEIR_DONE;
}

static const struct weir_option options[] = {
    WEIR_OPTION_U32(struct settings, pieces, .required = true, .min = 1, .max = 10000000),
    WEIR_OPTION_U32(struct settings, bytes, .fallback = "16384", .max = 1000000),
    WEIR_OPTION_U32(struct settings, fails_one_in, .fallback = "500", .min = 1, .max = 10000000),
    WEIR_OPTION_BOOL(struct settings, push, .fallback = "false"),
    WEIR_OPTION_BOOL(struct settings, pressure, .fallback = "false"),
    { 0 },
};

static const struct weir_output outputs[] = { { .name = "out" }, { 0 } };

static const struct weir_behaviour behaviours[] = {
    { .name = "master",
      .summary = "produces pieces of uneven length",
      .options = options,
      .outputs = outputs,
      .settings_size = sizeof(struct settings),
      .state_size = sizeof(struct state),
      .flags = WEIR_BLOCKING | WEIR_KEYLESS,
      .in_hand = 2,
      .open = source_open,
      .handle = source_handle,
      .produce = source_produce },
    { .name = "worker",
      .summary = "waits for as long as a piece says",
      .flags = WEIR_BLOCKING,
      .handle = worker_handle },
    { 0 },
};

WEIR_PLUGIN("uneven", "1.0.0", behaviours);
