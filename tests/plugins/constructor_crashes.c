/* SPDX-License-Identifier: MIT */
/* Fault: loading it crashes. */
#include <ctype.h>
#include <stdlib.h>

#include "fault.h"

/* Dereferences a null pointer. */
__attribute__((constructor)) static void read_environment(void)
{
    const char *level = getenv("WEIR_TESTS_NEVER_SET_THIS");

    if (isdigit((unsigned char)level[0]))
        fputs("a level\n", stderr);
}

static const struct weir_behaviour behaviours[] = {
    { .name = "run", .handle = fault_handle },
    { 0 },
};

WEIR_PLUGIN("constructor_crashes", "1.0.0", behaviours);
