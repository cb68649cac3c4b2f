/* SPDX-License-Identifier: MIT */
/*
 * wait_limit.h - the time-out of a test's waits.
 *
 * No outcome of a passing test depends on it; only a broken promise takes that long to show. `./dev
 * promises`, which breaks them on purpose, sets WEIR_TEST_WAIT_LIMIT_MS to a shorter one.
 */
#ifndef TESTS_UNIT_SUPPORT_WAIT_LIMIT_H
#define TESTS_UNIT_SUPPORT_WAIT_LIMIT_H

#include <stdint.h>

/* Milliseconds; 30 s unless the environment says otherwise. */
uint32_t wait_limit_ms(void);

#endif
