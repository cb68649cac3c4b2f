/* SPDX-License-Identifier: MIT */
/*
 * The behaviour pgpool.orders: a source of transfers that sends each again until it is made, or
 * until the data forbid it. Equal settings give equal transfers.
 */
#include <string.h>

#include "pgpool.h"

#define OUTPUT_OUT 0u
#define WINDOW 256u  /* unsettled transfers at a time */
#define REST_MS 100u /* the pause before failed transfers are sent again */

struct settings {
    uint64_t count;
    uint32_t accounts;
    uint32_t amount_max;
    uint64_t seed;
};

enum place_use {
    PLACE_FREE = 0,
    PLACE_SENT,
    PLACE_AGAIN, /* to be sent again */
};

struct place {
    uint64_t id;
    enum place_use use;
};

/* The position that a successor gets. */
struct position {
    uint64_t next;
    uint64_t made;
    uint64_t refused;
    struct place places[WINDOW];
};

struct state {
    const struct settings *settings; /* borrowed until close */
    const struct weir_tag *tag;
    struct position position;
    bool rests;
};

static int orders_open(struct weir_self *self, const void *settings, void *memory)
{
    struct state *state = memory;

    state->settings = settings;
    state->tag = weir_tag(self, PGPOOL_TRANSFER_TAG);
    return state->tag ? 0 : WEIR_ENOMEM;
}

/* splitmix64: numbers that look random and depend on nothing else. */
static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static void write_transfer(const struct settings *settings, uint64_t id,
                           struct pgpool_transfer *out)
{
    uint64_t random = mix(settings->seed ^ id * 3);

    out->id = id;
    out->source = (uint32_t)(random % settings->accounts);
    out->target = (uint32_t)((out->source + 1 + mix(random) % (settings->accounts - 1)) %
                             settings->accounts);
    out->amount = 1 + mix(mix(random)) % settings->amount_max;
}

static struct place *find(struct state *state, enum place_use use)
{
    for (uint32_t i = 0; i < WINDOW; i++)
        if (state->position.places[i].use == use)
            return &state->position.places[i];
    return NULL;
}

/* The place of the transfer to be sent now; NULL: there is none. */
static struct place *choose(struct state *state)
{
    struct place *place = state->rests ? NULL : find(state, PLACE_AGAIN);

    if (!place && state->position.next < state->settings->count) {
        place = find(state, PLACE_FREE);
        if (place)
            place->id = state->position.next;
    }
    return place;
}

static int send(struct weir_self *self, struct state *state, struct place *place)
{
    struct weir_message *message = weir_message_new(self, state->tag,
                                                    sizeof(struct pgpool_transfer));
    int status = WEIR_ENOMEM;

    if (message) {
        write_transfer(state->settings, place->id, message->data);
        status = weir_set_origin(self, message, (uint64_t)(place - state->position.places));
    }
    if (status == 0)
        status = weir_emit(self, OUTPUT_OUT, message);
    if (status != 0) {
        weir_message_free(self, message);
        return status;
    }
    if (place->use == PLACE_FREE)
        state->position.next++;
    place->use = PLACE_SENT;
    return 0;
}

static void wake_up(struct weir_self *self, void *memory, void *context)
{
    struct state *state = memory;

    (void)self;
    (void)context;
    state->rests = false;
}

/* Without a timer the next outcome wakes the source. */
static void rest(struct weir_self *self, struct state *state)
{
    if (!state->rests)
        state->rests = weir_after(self, REST_MS, wake_up, NULL, NULL) == 0;
}

static int end(struct weir_self *self, const struct state *state)
{
    char text[80];
    int size = snprintf(text, sizeof text, "%ju transfers made, %ju refused\n",
                        (uintmax_t)state->position.made, (uintmax_t)state->position.refused);

    weir_print(self, text, (size_t)size);
    return WEIR_END;
}

static int orders_produce(struct weir_self *self, void *memory, uint32_t credit)
{
    struct state *state = memory;
    struct place *place;

    for (; credit > 0 && (place = choose(state)) != NULL; credit--) {
        int status = send(self, state, place);

        if (status == WEIR_EFULL)
            return WEIR_MORE;
        if (status != 0) {
            rest(self, state);
            return WEIR_WAIT;
        }
    }
    weir_progress(self, "transfers", state->position.made, state->settings->count);
    if (credit == 0)
        return WEIR_MORE;
    if (state->position.next == state->settings->count && !find(state, PLACE_SENT) &&
        !find(state, PLACE_AGAIN))
        return end(self, state);
    return WEIR_WAIT;
}

static void orders_settled(struct weir_self *self, void *memory, const struct weir_outcome *outcome)
{
    struct state *state = memory;
    struct place *place = &state->position.places[outcome->token];

    if (outcome->result == WEIR_OUTCOME_DONE) {
        state->position.made++;
        place->use = PLACE_FREE;
    } else if (outcome->result == WEIR_OUTCOME_DEAD && strcmp(outcome->reason, "rejected") == 0) {
        state->position.refused++;
        place->use = PLACE_FREE;
    } else {
        place->use = PLACE_AGAIN;
        rest(self, state);
    }
}

/* Transfers that are under way are sent again, too: no transfer is made twice. */
static void orders_close(struct weir_self *self, void *memory, int reason)
{
    struct state *state = memory;

    (void)reason;
    for (uint32_t i = 0; i < WINDOW; i++)
        if (state->position.places[i].use == PLACE_SENT)
            state->position.places[i].use = PLACE_AGAIN;
    if (weir_leave_position(self, &state->position, sizeof state->position) != 0)
        weir_log(self, WEIR_LOG_WARNING, "position lost", weir_uint("next", state->position.next));
}

static void orders_resume(struct weir_self *self, void *memory, const void *position, size_t size)
{
    struct state *state = memory;

    (void)self;
    if (size == sizeof state->position)
        memcpy(&state->position, position, size);
}

static const struct weir_option options[] = {
    WEIR_OPTION_U64(struct settings, count, .help = "how many transfers", .fallback = "1000",
                    .min = 1, .max = 1000000000),
    WEIR_OPTION_U32(struct settings, accounts, .help = "how many accounts there are: 0, 1, ...",
                    .min = 2, .max = 1000000, .required = true),
    WEIR_OPTION_U32(struct settings, amount_max, .help = "the largest amount of a transfer",
                    .fallback = "100", .min = 1, .max = 1000000),
    WEIR_OPTION_U64(struct settings, seed, .help = "another one gives others", .fallback = "1"),
    { 0 },
};

static const struct weir_output outputs[] = {
    { .name = "out", .help = "each transfer, as pgpool.transfer/1", .required = true },
    { 0 },
};

const struct weir_behaviour pgpool_orders = {
    .name = "orders",
    .summary = "sends transfers until each is made or refused",
    .options = options,
    .outputs = outputs,
    .settings_size = sizeof(struct settings),
    .state_size = sizeof(struct state),
    .flags = WEIR_ORIGINS,
    .open = orders_open,
    .produce = orders_produce,
    .close = orders_close,
    .settled = orders_settled,
    .resume = orders_resume,
};
