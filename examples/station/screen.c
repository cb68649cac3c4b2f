/* SPDX-License-Identifier: MIT */
/* The behaviour station.screen: shows pictures. Screens of one pool share each picture. */
#include "station.h"

struct state {
    const struct weir_tag *picture;
    struct weir_blob *shown; /* held; the picture on the screen, or NULL */
    uint64_t pictures;
};

static int screen_open(struct weir_self *self, const void *settings, void *memory)
{
    struct state *state = memory;

    (void)settings;
    state->picture = weir_tag(self, STATION_PICTURE_TAG);
    return state->picture ? 0 : WEIR_ENOMEM;
}

static void clear(struct state *state)
{
    if (state->shown)
        weir_blob_release(state->shown);
    state->shown = NULL;
}

static int screen_handle(struct weir_self *self, void *memory, const struct weir_message *message)
{
    struct state *state = memory;

    if (message->tag != state->picture)
        return WEIR_REJECT;
    clear(state);
    state->shown = weir_message_blob(self, message);
    if (state->shown)
        weir_blob_hold(state->shown);
    state->pictures++;
    return WEIR_DONE;
}

static void screen_close(struct weir_self *self, void *memory, int reason)
{
    struct state *state = memory;
    char line[64];

    (void)reason;
    clear(state);
    weir_print(self, line,
               (size_t)snprintf(line, sizeof line, "screen %u: %ju pictures\n", weir_index(self),
                                (uintmax_t)state->pictures));
}

const struct weir_behaviour station_screen = {
    .name = "screen",
    .summary = "shows pictures, and counts them",
    .state_size = sizeof(struct state),
    .open = screen_open,
    .handle = screen_handle,
    .close = screen_close,
};
