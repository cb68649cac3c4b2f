/* SPDX-License-Identifier: MIT */
/*
 * base/clock.h - monotonic time, injectable.
 *
 * The runtime reads time through a clock so that tests can stop and move it. No part of Weir
 * depends on the date.
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

struct clock {
    uint64_t (*now_ns)(void *context); /* never decreases; any thread */
    void *context;
};

/* The machine's monotonic clock. */
struct clock clock_monotonic(void);

/* Nanoseconds since an arbitrary start. */
static inline uint64_t clock_now_ns(const struct clock *clock)
{
    return clock->now_ns(clock->context);
}

/* The moment `delay_ms` from now; UINT64_MAX on overflow. */
uint64_t clock_after_ms(const struct clock *clock, uint64_t delay_ms);

#endif
