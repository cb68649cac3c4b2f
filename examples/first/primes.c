/* SPDX-License-Identifier: MIT */
#include <weir/plugin.h>

static int handle(struct weir_self *self, void *state, const struct weir_message *message)
{
    const uint64_t number = *(const uint64_t *)message->data;
    char line[24];

    (void)state;
    for (uint64_t divisor = 2; divisor * divisor <= number; divisor++)
        if (number % divisor == 0)
            return WEIR_DONE;
    weir_print(self, line, (size_t)snprintf(line, sizeof line, "%ju\n", (uintmax_t)number));
    return WEIR_DONE;
}

static const struct weir_behaviour behaviours[] = {
    { .name = "find", .summary = "prints the numbers that are prime", .handle = handle },
    { 0 },
};
WEIR_PLUGIN("primes", "1.0.0", behaviours);
