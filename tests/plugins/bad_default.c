/* SPDX-License-Identifier: MIT */
/* Fault: the default of an option is outside its own bounds. */
#include "fault.h"

static const struct weir_option options[] = {
    WEIR_OPTION_U32(struct fault_settings, keep, .fallback = "9", .min = 1, .max = 5),
    { 0 },
};

static const struct weir_behaviour behaviours[] = {
    { .name = "run",
      .options = options,
      .settings_size = sizeof(struct fault_settings),
      .handle = fault_handle },
    { 0 },
};

WEIR_PLUGIN("bad_default", "1.0.0", behaviours);
