/* SPDX-License-Identifier: MIT */
/*
 * work.h - counts the work of the code under test by the basic blocks that the calling thread runs,
 * which include loops and comparisons that steps.h does not see. The same on every machine.
 *
 * The program links with work.c, and with sources compiled with -fsanitize-coverage=trace-pc
 * (weir_config_counted in CMake); work inside libraries is not counted.
 */
#ifndef TESTS_UNIT_SUPPORT_WORK_H
#define TESTS_UNIT_SUPPORT_WORK_H

#include <stdint.h>

/* Blocks of this thread so far. */
uint64_t work_done(void);

#endif
