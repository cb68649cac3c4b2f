/* SPDX-License-Identifier: MIT */
/* A worker that emits a copy of each message, and fails now and then, before or after it, rejects
 * some, or crashes. */
#include <stdlib.h>
#include <string.h>

#include <weir/plugin.h>

struct settings {
    uint32_t fails_each;
    uint32_t rejects_each;
    uint32_t crashes_at;
};

struct relay {
    const struct settings *settings;
};

/* Of all workers: a failure does not reset it. */
static _Atomic uint32_t messages;

static int open_relay(struct weir_self *self, const void *settings, void *memory)
{
    struct relay *relay = memory;

    (void)self;
    relay->settings = settings;
    return 0;
}

static bool is_turn(uint32_t count, uint32_t each, uint32_t part)
{
    return each && count % each == part;
}

static int handle(struct weir_self *self, void *memory, const struct weir_message *message)
{
    const struct relay *relay = memory;
    const uint32_t fails_each = relay->settings->fails_each, count = ++messages;
    const uint32_t rejects_each = relay->settings->rejects_each;
    struct weir_message *copy;

    if (count == relay->settings->crashes_at)
        abort();
    if (is_turn(count, fails_each, 0))
        return WEIR_FAIL;
    if (rejects_each && weir_key(message->data, message->size) % rejects_each == 0) {
        weir_reason(self, "by its key");
        return WEIR_REJECT;
    }
    copy = weir_message_new(self, message->tag, message->size);
    if (!copy)
        return WEIR_RETRY;
    copy->key = message->key;
    memcpy(copy->data, message->data, message->size);
    if (weir_emit(self, 0, copy) == 0)
        return is_turn(count, fails_each, fails_each / 2) ? WEIR_FAIL : WEIR_DONE;
    weir_message_free(self, copy);
    return WEIR_RETRY;
}

static const struct weir_option options[] = {
    WEIR_OPTION_U32(struct settings, fails_each, .fallback = "0", .max = 1000000,
                    .help = "it fails twice in so many messages; 0 = never"),
    WEIR_OPTION_U32(struct settings, rejects_each, .fallback = "0", .max = 1000000,
                    .help = "it rejects one in so many messages, by their bytes; 0 = none"),
    WEIR_OPTION_U32(struct settings, crashes_at, .fallback = "0", .max = 1000000,
                    .help = "the host ends at this message, counted from 1; 0 = at none"),
    { 0 },
};

static const struct weir_output outputs[] = {
    { .name = "out", .help = "the copies" },
    { 0 },
};

static const struct weir_behaviour behaviours[] = {
    {
        .name = "pass",
        .summary = "emits a copy of each message",
        .options = options,
        .outputs = outputs,
        .settings_size = sizeof(struct settings),
        .state_size = sizeof(struct relay),
        .open = open_relay,
        .handle = handle,
    },
    { 0 },
};

WEIR_PLUGIN("relay", "1.0.0", behaviours);
