/* SPDX-License-Identifier: MIT */
/* Its name differs from that of its file: `weir check --plugin` must report that at the end of the
 * build. */
#include <weir/plugin.h>

static int handle(struct weir_self *self, void *state, const struct weir_message *message)
{
    (void)self;
    (void)state;
    (void)message;
    return WEIR_DONE;
}

static const struct weir_behaviour behaviours[] = {
    { .name = "take", .summary = "takes everything", .handle = handle },
    { 0 },
};

WEIR_PLUGIN("something_else", "1.0.0", behaviours);
