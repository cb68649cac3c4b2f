/* SPDX-License-Identifier: MIT */
/* Fault: loading it never returns, nor does the process that it has started. */
#include <unistd.h>

#include "fault.h"

__attribute__((constructor)) static void wait_for_nobody(void)
{
    (void)fork();
    for (;;)
        pause();
}

static const struct weir_behaviour behaviours[] = {
    { .name = "run", .handle = fault_handle },
    { 0 },
};

WEIR_PLUGIN("constructor_hangs", "1.0.0", behaviours);
