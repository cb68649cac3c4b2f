/* SPDX-License-Identifier: MIT */
/* The behaviour station.readings: a source that continues at the position of its predecessor. */
#include <string.h>

#include "station.h"

#define OUTPUT_OUT 0u
#define NO_MEMORY_MS 10u

struct settings {
    uint64_t count;
};

struct state {
    const struct settings *settings; /* borrowed until close */
    const struct weir_tag *tag;
    uint64_t next;
};

static int readings_open(struct weir_self *self, const void *settings, void *memory)
{
    struct state *state = memory;

    state->settings = settings;
    state->tag = weir_tag(self, STATION_READING_TAG);
    return state->tag ? 0 : WEIR_ENOMEM;
}

static void read_sensor(struct station_reading *reading, uint64_t number)
{
    reading->number = number;
    reading->sensor = (uint32_t)(number % STATION_SENSORS);
    reading->value = (uint32_t)(number * 37 % 100);
}

static int emit_next(struct weir_self *self, struct state *state)
{
    struct weir_message *message = weir_message_new(self, state->tag,
                                                    sizeof(struct station_reading));
    struct station_reading *reading;
    int status;

    if (!message)
        return WEIR_ENOMEM;
    reading = message->data;
    read_sensor(reading, state->next);
    message->key = weir_key(&reading->sensor, sizeof reading->sensor);
    status = weir_emit(self, OUTPUT_OUT, message);
    if (status == 0)
        state->next++;
    else
        weir_message_free(self, message);
    return status;
}

static void wake_up(struct weir_self *self, void *memory, void *context)
{
    (void)self;
    (void)memory;
    (void)context;
}

static int readings_produce(struct weir_self *self, void *memory, uint32_t credit)
{
    struct state *state = memory;

    for (; credit > 0 && state->next < state->settings->count; credit--) {
        int status = emit_next(self, state);

        if (status == WEIR_EFULL)
            return WEIR_MORE;
        if (status < 0)
            return weir_after(self, NO_MEMORY_MS, wake_up, NULL, NULL) == 0 ? WEIR_WAIT : status;
    }
    weir_progress(self, "readings", state->next, state->settings->count);
    return state->next < state->settings->count ? WEIR_MORE : WEIR_END;
}

static void readings_close(struct weir_self *self, void *memory, int reason)
{
    struct state *state = memory;

    (void)reason;
    if (weir_leave_position(self, &state->next, sizeof state->next) != 0)
        weir_log(self, WEIR_LOG_WARNING, "position lost", weir_uint("next", state->next));
}

static void readings_resume(struct weir_self *self, void *memory, const void *position, size_t size)
{
    struct state *state = memory;

    (void)self;
    if (size == sizeof state->next)
        memcpy(&state->next, position, size);
}

static const struct weir_option options[] = {
    WEIR_OPTION_U64(struct settings, count, .help = "how many readings", .fallback = "100",
                    .min = 1, .max = 1000000000),
    { 0 },
};

static const struct weir_output outputs[] = {
    { .name = "out", .help = "each reading; its key is the sensor", .required = true },
    { 0 },
};

const struct weir_behaviour station_readings = {
    .name = "readings",
    .summary = "sends readings of four sensors",
    .options = options,
    .outputs = outputs,
    .settings_size = sizeof(struct settings),
    .state_size = sizeof(struct state),
    .open = readings_open,
    .produce = readings_produce,
    .close = readings_close,
    .resume = readings_resume,
};
