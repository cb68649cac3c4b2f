/* SPDX-License-Identifier: MIT */
/* Fault: loading it ends the program. */
#include <stdlib.h>

#include "fault.h"

__attribute__((constructor)) static void look_for_licence(void)
{
    fputs("no licence was found\n", stderr);
    exit(3);
}

static const struct weir_behaviour behaviours[] = {
    { .name = "run", .handle = fault_handle },
    { 0 },
};

WEIR_PLUGIN("constructor_exits", "1.0.0", behaviours);
