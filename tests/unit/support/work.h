/*
 * work.h - counts what the code under test does, by the basic blocks that the calling thread runs
 * through: loops and comparisons, too, which steps.h does not see. The same on every machine.
 *
 * The program links with work.c, and with sources that were compiled with
 * -fsanitize-coverage=trace-pc (weir_config_counted in CMake); what libraries do inside is not
 * counted.
 */
#ifndef TESTS_UNIT_SUPPORT_WORK_H
#define TESTS_UNIT_SUPPORT_WORK_H

#include <stdint.h>

/* Blocks of this thread so far. */
uint64_t work_done(void);

#endif
