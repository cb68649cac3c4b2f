/* SPDX-License-Identifier: MIT */
#include "base/clock.h"

#include <time.h>

static uint64_t monotonic_now_ns(void *context)
{
    struct timespec now;

    (void)context;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

struct clock clock_monotonic(void)
{
    return (struct clock){ .now_ns = monotonic_now_ns, .context = NULL };
}

uint64_t clock_after_ms(const struct clock *clock, uint64_t delay_ms)
{
    uint64_t now = clock_now_ns(clock);

    return delay_ms > (UINT64_MAX - 1 - now) / 1000000u ? UINT64_MAX : now + delay_ms * 1000000u;
}
