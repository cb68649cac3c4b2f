/* SPDX-License-Identifier: MIT */
/* The behaviour station.watch: publishes an event for each reading that leaves the bounds. */
#include "station.h"

#define OUTPUT_READINGS 0u
#define AGAIN_MS 10u

struct settings {
    uint32_t low;
    uint32_t high;
};

struct state {
    const struct settings *settings; /* borrowed until close, or until reconfigure gives others */
    const struct weir_tag *tag;
    uint64_t alarm; /* number of the event */
    bool heard;     /* there are subscribers */
};

static void watch_check(const void *settings, struct weir_report *report)
{
    const struct settings *wanted = settings;

    if (wanted->low > wanted->high)
        weir_report_error(report, "low", "must not be above high, which is %u", wanted->high);
}

static int watch_open(struct weir_self *self, const void *settings, void *memory)
{
    struct state *state = memory;

    state->settings = settings;
    state->tag = weir_tag(self, STATION_READING_TAG);
    return state->tag ? weir_event(self, STATION_ALARM, &state->alarm) : WEIR_ENOMEM;
}

static void watch_reconfigure(struct weir_self *self, void *memory, const void *settings)
{
    struct state *state = memory;

    state->settings = settings;
    weir_log(self, WEIR_LOG_INFO, "bounds", weir_uint("low", state->settings->low),
             weir_uint("high", state->settings->high));
}

static void watch_audience(struct weir_self *self, void *memory, uint64_t event,
                           uint32_t subscribers)
{
    struct state *state = memory;

    (void)self;
    (void)event;
    state->heard = subscribers > 0;
}

static struct weir_message *copy(struct weir_self *self, const struct state *state,
                                 const struct station_reading *reading)
{
    struct weir_message *message = weir_message_new(self, state->tag, sizeof *reading);

    if (message)
        *(struct station_reading *)message->data = *reading;
    return message;
}

/* Publishing never waits: a subscriber without room misses the event. */
static void publish(struct weir_self *self, const struct state *state,
                    const struct station_reading *reading)
{
    struct weir_message *message = copy(self, state, reading);
    uint32_t taken = 0, refused = 0;

    if (!message)
        return;
    if (weir_publish(self, state->alarm, message, &taken, &refused) < 0)
        weir_message_free(self, message);
    if (refused > 0)
        weir_log(self, WEIR_LOG_WARNING, "alarm missed", weir_uint("number", reading->number),
                 weir_uint("by", refused));
}

static int watch_handle(struct weir_self *self, void *memory, const struct weir_message *message)
{
    struct state *state = memory;
    const struct station_reading *reading = station_reading_get(message, state->tag);
    struct weir_message *next;

    if (!reading) {
        weir_reason(self, "not a " STATION_READING_TAG);
        return WEIR_REJECT;
    }
    next = copy(self, state, reading);
    if (!next || weir_emit(self, OUTPUT_READINGS, next) < 0) {
        weir_message_free(self, next);
        weir_retry_after(self, AGAIN_MS);
        weir_reason(self, "no memory, or no room");
        return WEIR_RETRY;
    }
    if (state->heard &&
        (reading->value < state->settings->low || reading->value > state->settings->high))
        publish(self, state, reading);
    return WEIR_DONE;
}

static const struct weir_option options[] = {
    WEIR_OPTION_U32(struct settings, low, .help = "values below it give an alarm", .fallback = "0",
                    .max = 99, .live = true),
    WEIR_OPTION_U32(struct settings, high, .help = "values above it give an alarm",
                    .fallback = "95", .max = 99, .live = true),
    { 0 },
};

static const struct weir_output outputs[] = {
    { .name = "readings", .help = "each reading" },
    { 0 },
};

const struct weir_behaviour station_watch = {
    .name = "watch",
    .summary = "publishes station.alarm for each reading out of bounds",
    .options = options,
    .outputs = outputs,
    .settings_size = sizeof(struct settings),
    .state_size = sizeof(struct state),
    .check = watch_check,
    .open = watch_open,
    .handle = watch_handle,
    .reconfigure = watch_reconfigure,
    .audience = watch_audience,
};
