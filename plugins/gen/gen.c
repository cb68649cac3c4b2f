/* SPDX-License-Identifier: MIT */
/*
 * gen - a source of numbered messages, for trials and measurements.
 */
#include "gen.h"

#include <inttypes.h>
#include <string.h>

#include <weir/plugin.h>

#define OUTPUT_OUT 0u

/* Before another try to get memory. */
#define NO_MEMORY_MS 10u

/* Of both behaviours: `forever` has no option `count`, so it is 0. */
struct settings {
    uint64_t count;
    uint64_t first;
    bool key;
};

struct numbers {
    const struct weir_tag *tag;
    uint64_t first; /* const */
    uint64_t count; /* const; 0 = without end */
    bool key;       /* const */
    uint64_t done;
};

static void numbers_check(const void *settings, struct weir_report *report)
{
    const struct settings *wanted = settings;

    if (wanted->count > 0 && wanted->first > UINT64_MAX - (wanted->count - 1))
        weir_report_error(report, "count", "first + count passes the largest number");
}

static int numbers_open(struct weir_self *self, const void *settings, void *memory)
{
    const struct settings *wanted = settings;
    struct numbers *state = memory;

    state->first = wanted->first;
    state->count = wanted->count;
    state->key = wanted->key;
    state->tag = weir_tag(self, GEN_NUMBER_TAG);
    return state->tag ? 0 : WEIR_ENOMEM;
}

/* The position is the next number: it has the same meaning under other args. */
static void numbers_close(struct weir_self *self, void *memory, int reason)
{
    struct numbers *state = memory;
    uint64_t next = state->first + state->done;

    (void)reason;
    if (weir_leave_position(self, &next, sizeof next) != 0)
        weir_log(self, WEIR_LOG_WARNING, "position lost", weir_uint("next", next));
}

/* A number out of range is ignored: the numbers begin with the first. */
static void numbers_resume(struct weir_self *self, void *memory, const void *position, size_t size)
{
    struct numbers *state = memory;
    uint64_t next;

    (void)self;
    if (size != sizeof next)
        return;
    memcpy(&next, position, sizeof next);
    if (next < state->first)
        return;
    state->done = next - state->first;
    if (state->count > 0 && state->done > state->count)
        state->done = state->count;
}

/* After any result but 0 the number has not been emitted, and comes next again. */
static int emit_number(struct weir_self *self, struct numbers *state)
{
    struct weir_message *message = weir_message_new(self, state->tag, sizeof(struct gen_number));
    uint64_t number = state->first + state->done;
    int status;

    if (!message)
        return WEIR_ENOMEM;
    ((struct gen_number *)message->data)->number = number;
    if (state->key)
        message->key = weir_key(&number, sizeof number);
    status = weir_emit(self, OUTPUT_OUT, message);
    if (status < 0)
        weir_message_free(self, message);
    else
        state->done++;
    return status;
}

static void wake_up(struct weir_self *self, void *state, void *context)
{
    (void)self;
    (void)state;
    (void)context;
}

/* Keeps the number for later. Waits when memory is out, to avoid a busy loop. */
static int put_off(struct weir_self *self, int status)
{
    if (status == WEIR_EFULL)
        return WEIR_MORE;
    if (status == WEIR_ENOMEM && weir_after(self, NO_MEMORY_MS, wake_up, NULL, NULL) == 0)
        return WEIR_WAIT;
    return status;
}

static bool is_finished(const struct numbers *state)
{
    return state->count > 0 && state->done == state->count;
}

static int produce_numbers(struct weir_self *self, struct numbers *state, uint32_t credit)
{
    while (credit > 0 && !is_finished(state)) {
        int status = emit_number(self, state);

        if (status < 0)
            return put_off(self, status);
        credit--;
    }
    return is_finished(state) ? WEIR_END : WEIR_MORE;
}

static int numbers_produce(struct weir_self *self, void *memory, uint32_t credit)
{
    struct numbers *state = memory;
    int produced = produce_numbers(self, state, credit);

    weir_progress(self, "messages", state->done, state->count);
    return produced;
}

static void numbers_inspect(struct weir_self *self, void *memory, struct weir_inspection *out)
{
    const struct numbers *state = memory;

    (void)self;
    weir_inspect_add(out, "next", "%" PRIu64, state->first + state->done);
    weir_inspect_add(out, "finished", "%d", is_finished(state));
}

/* --- tables ----------------------------------------------------------------------------------- */

#define OPTION_FIRST                                                                               \
    WEIR_OPTION_U64(struct settings, first, .fallback = "0", .help = "the first number")
#define OPTION_KEY                                                                                 \
    WEIR_OPTION_BOOL(struct settings, key, .fallback = "false",                                    \
                     .help = "give each message a key of its own, for route: hash")

static const struct weir_option numbers_options[] = {
    WEIR_OPTION_U64(struct settings, count, .required = true, .min = 1, .max = INT64_MAX,
                    .help = "how many messages"),
    OPTION_FIRST,
    OPTION_KEY,
    { 0 },
};

static const struct weir_option forever_options[] = {
    OPTION_FIRST,
    OPTION_KEY,
    { 0 },
};

static const struct weir_output outputs[] = {
    { .name = "out", .help = "each number, as gen.number/1" },
    { 0 },
};

static const struct weir_behaviour behaviours[] = {
    {
        .name = "numbers",
        .summary = "so many numbered messages, as fast as they are taken",
        .options = numbers_options,
        .outputs = outputs,
        .settings_size = sizeof(struct settings),
        .state_size = sizeof(struct numbers),
        .flags = WEIR_KEYLESS,
        .check = numbers_check,
        .open = numbers_open,
        .produce = numbers_produce,
        .close = numbers_close,
        .resume = numbers_resume,
        .inspect = numbers_inspect,
    },
    {
        .name = "forever",
        .summary = "numbered messages without end, as fast as they are taken",
        .options = forever_options,
        .outputs = outputs,
        .settings_size = sizeof(struct settings),
        .state_size = sizeof(struct numbers),
        .flags = WEIR_ENDLESS | WEIR_KEYLESS,
        .open = numbers_open,
        .produce = numbers_produce,
        .close = numbers_close,
        .resume = numbers_resume,
        .inspect = numbers_inspect,
    },
    { 0 },
};

WEIR_PLUGIN("gen", "1.0.0", behaviours);
