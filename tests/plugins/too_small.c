/* SPDX-License-Identifier: MIT */
/* Fault: a descriptor shorter than that of SDK 1.0. */
#include "fault.h"

static const struct weir_behaviour behaviours[] = {
    { .name = "run", .handle = fault_handle },
    { 0 },
};

WEIR_EXPORT const struct weir_plugin weir_plugin_v1;
WEIR_EXPORT const struct weir_plugin weir_plugin_v1 = {
    .size = 16,
    .abi_minor = 0,
    .name = "too_small",
    .version = "1.0.0",
    .behaviours = behaviours,
    .behaviour_size = sizeof(struct weir_behaviour),
    .option_size = sizeof(struct weir_option),
    .output_size = sizeof(struct weir_output),
};
