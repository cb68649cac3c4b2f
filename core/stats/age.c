/* SPDX-License-Identifier: MIT */
#include "stats/age.h"

/* Forgets the readings whose messages have all been taken: they bound no age any more. */
static void forget_taken(struct age *age, uint64_t taken)
{
    uint32_t gone = 0;
    uint32_t kept = 0;

    while (gone < age->count && age->admitted[gone] <= taken)
        gone++;
    for (uint32_t i = gone; gone > 0 && i < age->count; i++, kept++) {
        age->admitted[kept] = age->admitted[i];
        age->seen_ns[kept] = age->seen_ns[i];
    }
    age->count -= gone;
}

static void forget(struct age *age, uint32_t index)
{
    age->count--;
    for (uint32_t i = index; i < age->count; i++) {
        age->admitted[i] = age->admitted[i + 1];
        age->seen_ns[i] = age->seen_ns[i + 1];
    }
}

/* Keeps the first, which bounds the age, and the last. */
static void forget_one(struct age *age)
{
    uint64_t least = UINT64_MAX;
    uint32_t chosen = 1;

    for (uint32_t i = 1; i + 1 < age->count; i++) {
        uint64_t gap = age->seen_ns[i + 1] - age->seen_ns[i - 1];

        if (gap < least) {
            least = gap;
            chosen = i;
        }
    }
    forget(age, chosen);
}

uint64_t age_read(struct age *age, uint64_t admitted, uint64_t taken, uint64_t now_ns)
{
    uint64_t oldest;

    forget_taken(age, taken);
    if (admitted <= taken)
        return 0;
    oldest = age->count > 0 ? age->seen_ns[0] : now_ns;
    /* No message was admitted since the last reading, which gives the larger bound. */
    if (age->count > 0 && age->admitted[age->count - 1] >= admitted)
        return now_ns - oldest;
    if (age->count == AGE_READINGS)
        forget_one(age);
    age->admitted[age->count] = admitted;
    age->seen_ns[age->count++] = now_ns;
    return now_ns - oldest;
}
