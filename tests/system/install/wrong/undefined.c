/* SPDX-License-Identifier: MIT */
/* Calls a function that no library has: the linker must report that, not a host later. */
#include <weir/plugin.h>

int no_such_function(const struct weir_message *message);

static int handle(struct weir_self *self, void *state, const struct weir_message *message)
{
    (void)self;
    (void)state;
    return no_such_function(message);
}

static const struct weir_behaviour behaviours[] = {
    { .name = "call", .summary = "calls what is not there", .handle = handle },
    { 0 },
};

WEIR_PLUGIN("undefined", "1.0.0", behaviours);
