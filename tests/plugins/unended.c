/* SPDX-License-Identifier: MIT */
/* Fault: the table of behaviours has no row of zeros. Here a row whose name is no text follows. */
#include "fault.h"

static const struct {
    struct weir_behaviour behaviours[1];
    uintptr_t behind[sizeof(struct weir_behaviour) / sizeof(uintptr_t)];
} table = {
    .behaviours = { { .name = "run", .handle = fault_handle } },
    .behind = { 16 },
};

WEIR_PLUGIN("unended", "1.0.0", table.behaviours);
