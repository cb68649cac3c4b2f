/* SPDX-License-Identifier: MIT */
#include "acks.h"

#include <stdlib.h>

#include <weir/plugin.h>

int acks_init(struct acks *acks, uint32_t capacity)
{
    acks->numbers = calloc(capacity, sizeof *acks->numbers);
    acks->capacity = capacity;
    acks_reset(acks);
    return acks->numbers ? 0 : WEIR_ENOMEM;
}

void acks_finish(struct acks *acks)
{
    free(acks->numbers);
    acks->numbers = NULL;
}

void acks_reset(struct acks *acks)
{
    acks->count = 0;
}

void acks_add(struct acks *acks, uint64_t number)
{
    acks->numbers[acks->count++] = number;
}

bool acks_is_full(const struct acks *acks)
{
    return acks->count == acks->capacity;
}

uint32_t acks_take_below(struct acks *acks, uint64_t lowest, uint64_t *out_last)
{
    uint32_t kept = 0, taken = 0;
    uint64_t last = 0;

    for (uint32_t i = 0; i < acks->count; i++) {
        uint64_t number = acks->numbers[i];

        if (number >= lowest) {
            acks->numbers[kept++] = number;
            continue;
        }
        taken++;
        if (number > last)
            last = number;
    }
    acks->count = kept;
    if (taken > 0)
        *out_last = last;
    return taken;
}

bool acks_take(struct acks *acks, uint64_t *out_number)
{
    if (acks->count == 0)
        return false;
    *out_number = acks->numbers[--acks->count];
    return true;
}
