/* SPDX-License-Identifier: MIT */
/* A source that publishes an event, and workers that print the events that they get. */
#include <inttypes.h>

#include <weir/plugin.h>

struct speaker {
    uint64_t event;
    uint32_t audience;
};

static int open_speaker(struct weir_self *self, const void *settings, void *state)
{
    struct speaker *speaker = state;

    (void)settings;
    return weir_event(self, "news", &speaker->event);
}

static void audience(struct weir_self *self, void *state, uint64_t event, uint32_t subscribers)
{
    struct speaker *speaker = state;

    (void)self;
    (void)event;
    speaker->audience = subscribers;
}

static int speak(struct weir_self *self, void *state, uint32_t credit)
{
    struct speaker *speaker = state;

    (void)credit;
    for (uint64_t i = 1; i <= 5; i++) {
        struct weir_message *message = weir_message_new(self, NULL, sizeof i);
        uint32_t taken = 0, refused = 0;
        char line[64];

        if (!message)
            return WEIR_ENOMEM;
        *(uint64_t *)message->data = i;
        if (weir_publish(self, speaker->event, message, &taken, &refused) != 0)
            return WEIR_EUNKNOWN;
        weir_print(self, line,
                   (size_t)snprintf(line, sizeof line,
                                    "said %" PRIu64 " to %" PRIu32 ", not to %" PRIu32
                                    ", of %" PRIu32 "\n",
                                    i, taken, refused, speaker->audience));
    }
    return WEIR_END;
}

static int listen(struct weir_self *self, void *state, const struct weir_message *message)
{
    char line[160];

    (void)state;
    if (message->kind != WEIR_EVENT)
        return WEIR_REJECT;
    weir_print(self, line,
               (size_t)snprintf(line, sizeof line, "heard %" PRIu64 " in %s\n",
                                *(const uint64_t *)message->data, weir_path(self)));
    return WEIR_DONE;
}

static const struct weir_behaviour behaviours[] = {
    { .name = "speak",
      .state_size = sizeof(struct speaker),
      .open = open_speaker,
      .produce = speak,
      .audience = audience },
    { .name = "listen", .handle = listen },
    { 0 },
};

WEIR_PLUGIN("herald", "1.0.0", behaviours);
