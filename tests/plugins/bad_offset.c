/* SPDX-License-Identifier: MIT */
/* Fault: an option lies outside of the settings, whose size was forgotten. */
#include "fault.h"

static const struct weir_option options[] = {
    WEIR_OPTION_U32(struct fault_settings, keep, .fallback = "1"),
    { 0 },
};

static const struct weir_behaviour behaviours[] = {
    { .name = "run", .options = options, .handle = fault_handle },
    { 0 },
};

WEIR_PLUGIN("bad_offset", "1.0.0", behaviours);
