/* SPDX-License-Identifier: MIT */
/*
 * steps.h - counts the work of the calling thread: allocations and formatted texts. It bounds the
 * cost of an input without a clock, which would measure the machine.
 *
 * The program links with steps.c and -Wl,--wrap= of malloc, calloc, realloc, snprintf, vsnprintf
 * (weir_count_steps in CMake); work inside libraries is not counted.
 */
#ifndef TESTS_UNIT_SUPPORT_STEPS_H
#define TESTS_UNIT_SUPPORT_STEPS_H

#include <stdint.h>

/* Steps of this thread so far. */
uint64_t steps_taken(void);

#endif
