/* SPDX-License-Identifier: MIT */
/* A plugin, for plugin.c: it answers twice the number that it is asked. */
#include <weir/plugin.h>

static int handle(struct weir_self *self, void *state, const struct weir_message *message)
{
    struct weir_message *reply = weir_message_new(self, NULL, sizeof(uint64_t));

    (void)state;
    if (!reply)
        return WEIR_POSTPONE;
    *(uint64_t *)reply->data = 2 * *(const uint64_t *)message->data;
    if (weir_reply(self, message, reply) != 0)
        weir_message_free(self, reply);
    return WEIR_DONE;
}

static const struct weir_behaviour behaviours[] = {
    { .name = "answer", .summary = "answers twice the number", .handle = handle },
    { 0 },
};
WEIR_PLUGIN("twice", "1.0.0", behaviours);
