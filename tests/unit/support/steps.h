/*
 * steps.h - counts the work of the calling thread: memory that is asked for, texts that are
 * formatted. It bounds what input may cost without a clock, which would measure the machine.
 *
 * The program links with steps.c and -Wl,--wrap= of malloc, calloc, realloc, snprintf, vsnprintf
 * (weir_count_steps in CMake); what libraries do inside is not counted.
 */
#ifndef TESTS_UNIT_SUPPORT_STEPS_H
#define TESTS_UNIT_SUPPORT_STEPS_H

#include <stdint.h>

/* Steps of this thread so far. */
uint64_t steps_taken(void);

#endif
