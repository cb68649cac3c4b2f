/* SPDX-License-Identifier: MIT */
/* A worker that prints the number of each message of gen.numbers, one on each line. */
#include <inttypes.h>
#include <stdio.h>

#include <weir/plugin.h>

#include "../../plugins/gen/gen.h"

#define LINE_SIZE 32

static int print_number(struct weir_self *self, void *memory, const struct weir_message *message)
{
    const struct gen_number *number = gen_number_get(message);
    char line[LINE_SIZE];

    (void)memory;
    if (!number)
        return WEIR_REJECT;
    weir_print(self, line, (size_t)snprintf(line, sizeof line, "%" PRIu64 "\n", number->number));
    return WEIR_DONE;
}

static const struct weir_behaviour behaviours[] = {
    {
        .name = "numbers",
        .summary = "prints the number of each message",
        .handle = print_number,
    },
    { 0 },
};

WEIR_PLUGIN("talker", "1.0.0", behaviours);
