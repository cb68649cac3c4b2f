/* SPDX-License-Identifier: MIT */
/* Fault: a behaviour that neither handles nor produces. */
#include "fault.h"

static const struct weir_behaviour behaviours[] = {
    { .name = "idle" },
    { 0 },
};

WEIR_PLUGIN("no_callback", "1.0.0", behaviours);
