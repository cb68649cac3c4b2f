/* SPDX-License-Identifier: MIT */
/* The behaviour station.warm_up: readings wait in the stash until the instrument is warm. */
#include "station.h"

#define OUTPUT_READINGS 0u
#define AGAIN_MS 10u

struct settings {
    uint64_t after;
};

struct state {
    const struct weir_tag *tag;
    bool warm;
};

static void become_warm(struct weir_self *self, void *memory, void *context)
{
    struct state *state = memory;

    (void)context;
    state->warm = true;
    weir_log(self, WEIR_LOG_INFO, "warm", weir_uint("waiting", weir_unstash(self, UINT32_MAX)));
}

static int warm_up_open(struct weir_self *self, const void *settings, void *memory)
{
    const struct settings *wanted = settings;
    struct state *state = memory;

    state->tag = weir_tag(self, STATION_READING_TAG);
    return state->tag ? weir_after(self, wanted->after, become_warm, NULL, NULL) : WEIR_ENOMEM;
}

static int try_again(struct weir_self *self, const char *reason)
{
    weir_retry_after(self, AGAIN_MS);
    weir_reason(self, "%s", reason);
    return WEIR_RETRY;
}

static int pass_on(struct weir_self *self, struct state *state,
                   const struct station_reading *reading)
{
    struct weir_message *message = weir_message_new(self, state->tag, sizeof *reading);

    if (!message)
        return try_again(self, "no memory");
    *(struct station_reading *)message->data = *reading;
    if (weir_emit(self, OUTPUT_READINGS, message) == 0)
        return WEIR_DONE;
    weir_message_free(self, message);
    return try_again(self, "no room");
}

static int warm_up_handle(struct weir_self *self, void *memory, const struct weir_message *message)
{
    struct state *state = memory;
    const struct station_reading *reading = station_reading_get(message, state->tag);

    if (!reading) {
        weir_reason(self, "not a " STATION_READING_TAG);
        return WEIR_REJECT;
    }
    if (state->warm)
        return pass_on(self, state, reading);
    if (weir_stash(self, message) == 0)
        return WEIR_DONE;
    return try_again(self, "the stash is full");
}

static const struct weir_option options[] = {
    WEIR_OPTION_DURATION(struct settings, after,
                         .help = "how long the instrument takes to become warm", .fallback = "20ms",
                         .min = 1, .max = 60000),
    { 0 },
};

static const struct weir_output outputs[] = {
    { .name = "readings", .help = "each reading, once it is warm", .required = true },
    { 0 },
};

const struct weir_behaviour station_warm_up = {
    .name = "warm_up",
    .summary = "holds readings back until the instrument is warm",
    .options = options,
    .outputs = outputs,
    .settings_size = sizeof(struct settings),
    .state_size = sizeof(struct state),
    .open = warm_up_open,
    .handle = warm_up_handle,
};
