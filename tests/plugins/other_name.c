/* SPDX-License-Identifier: MIT */
/* Fault: its name differs from that of its file. */
#include "fault.h"

static const struct weir_behaviour behaviours[] = {
    { .name = "run", .handle = fault_handle },
    { 0 },
};

WEIR_PLUGIN("another", "1.0.0", behaviours);
