/* SPDX-License-Identifier: MIT */
/* Fault: uses a function that no library has. */
#include "fault.h"

int function_of_nobody(void);

static int handle(struct weir_self *self, void *state, const struct weir_message *message)
{
    return fault_handle(self, state, message) + function_of_nobody();
}

static const struct weir_behaviour behaviours[] = {
    { .name = "run", .handle = handle },
    { 0 },
};

WEIR_PLUGIN("undefined_symbol", "1.0.0", behaviours);
