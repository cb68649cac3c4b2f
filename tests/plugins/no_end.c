/* SPDX-License-Identifier: MIT */
/* Fault: the table of outputs has no row of zeros. Here more rows than any plugin has follow. */
#include "fault.h"

#define ROW                                                                                        \
    {                                                                                              \
        .name = "out"                                                                              \
    }
#define ROWS ROW, ROW, ROW, ROW, ROW, ROW, ROW, ROW, ROW, ROW

static const struct weir_output outputs[] = { ROWS, ROWS, ROWS, ROWS, ROWS, ROWS, ROWS };

static const struct weir_behaviour behaviours[] = {
    { .name = "run", .outputs = outputs, .handle = fault_handle },
    { 0 },
};

WEIR_PLUGIN("no_end", "1.0.0", behaviours);
