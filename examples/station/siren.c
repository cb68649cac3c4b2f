/* SPDX-License-Identifier: MIT */
/* The behaviour station.siren: receives alarms, and sends a large picture of each, as a blob. */
#include <string.h>

#include "station.h"

#define OUTPUT_PICTURES 0u
#define PICTURE_SIZE (256u * 1024u)
#define AGAIN_MS 10u

struct state {
    const struct weir_tag *reading;
    const struct weir_tag *picture;
};

static int siren_open(struct weir_self *self, const void *settings, void *memory)
{
    struct state *state = memory;

    (void)settings;
    state->reading = weir_tag(self, STATION_READING_TAG);
    state->picture = weir_tag(self, STATION_PICTURE_TAG);
    return state->reading && state->picture ? 0 : WEIR_ENOMEM;
}

/* The message holds the blob for itself, so this function gives its own hold back. */
static int send_picture(struct weir_self *self, const struct state *state, uint32_t value)
{
    struct weir_blob *picture = weir_blob_new(self, PICTURE_SIZE);
    struct weir_message *message;
    int status;

    if (!picture)
        return WEIR_ENOMEM;
    memset(picture->data, (int)value, picture->size); /* a sent blob never changes */
    message = weir_message_with_blob(self, state->picture, picture);
    weir_blob_release(picture);
    if (!message)
        return WEIR_ENOMEM;
    status = weir_emit(self, OUTPUT_PICTURES, message);
    if (status < 0)
        weir_message_free(self, message);
    return status;
}

static int siren_handle(struct weir_self *self, void *memory, const struct weir_message *message)
{
    struct state *state = memory;
    const struct station_reading *reading = station_reading_get(message, state->reading);

    if (message->kind != WEIR_EVENT || !reading)
        return WEIR_REJECT;
    if (send_picture(self, state, reading->value) == 0)
        return WEIR_DONE;
    weir_retry_after(self, AGAIN_MS);
    weir_reason(self, "no memory, or no room");
    return WEIR_RETRY;
}

static const struct weir_output outputs[] = {
    { .name = "pictures", .help = "a picture of each alarm", .required = true },
    { 0 },
};

const struct weir_behaviour station_siren = {
    .name = "siren",
    .summary = "sends a picture for each station.alarm",
    .outputs = outputs,
    .state_size = sizeof(struct state),
    .open = siren_open,
    .handle = siren_handle,
};
