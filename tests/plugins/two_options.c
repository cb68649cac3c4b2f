/* SPDX-License-Identifier: MIT */
/* Fault: two options of one name. */
#include "fault.h"

static const struct weir_option options[] = {
    WEIR_OPTION_U32(struct fault_settings, keep, .fallback = "1"),
    WEIR_OPTION_U32(struct fault_settings, keep, .fallback = "2"),
    { 0 },
};

static const struct weir_behaviour behaviours[] = {
    { .name = "run",
      .options = options,
      .settings_size = sizeof(struct fault_settings),
      .handle = fault_handle },
    { 0 },
};

WEIR_PLUGIN("two_options", "1.0.0", behaviours);
