/* SPDX-License-Identifier: MIT */
/* Fault: a descriptor made by a later minor version of the SDK. */
#include "fault.h"

static const struct weir_behaviour behaviours[] = {
    { .name = "run", .handle = fault_handle },
    { 0 },
};

WEIR_EXPORT const struct weir_plugin weir_plugin_v1;
WEIR_EXPORT const struct weir_plugin weir_plugin_v1 = {
    .size = sizeof(struct weir_plugin),
    .abi_minor = 7,
    .name = "too_new",
    .version = "1.0.0",
    .behaviours = behaviours,
    .behaviour_size = sizeof(struct weir_behaviour),
    .option_size = sizeof(struct weir_option),
    .output_size = sizeof(struct weir_output),
};
