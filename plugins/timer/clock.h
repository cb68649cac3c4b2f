/* SPDX-License-Identifier: MIT */
/*
 * clock.h - the time of day. A test links a clock of its own.
 */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdint.h>

/* Milliseconds of UTC since 1970. Jumps when the clock of the machine is set. */
int64_t clock_utc_ms(void);

#endif
