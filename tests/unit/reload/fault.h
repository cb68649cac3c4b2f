/* SPDX-License-Identifier: MIT */
/*
 * fault.h - calls that fail on a test's demand: memory, files, plugins, processes, threads.
 *
 * The linker sends these calls of our own code here (`--wrap`, see CMakeLists.txt). The nth one of
 * a followed thread fails, once, with an error of the system; the libraries below, and other
 * threads, are not affected, so the same n is the same step every time. docs/decisions/052 has the
 * reasons.
 */
#ifndef TESTS_UNIT_RELOAD_FAULT_H
#define TESTS_UNIT_RELOAD_FAULT_H

#include <stdint.h>

#include "unit/support/fault_calls.h"

#define FAULT_ANY UINT32_MAX
#define FAULT_ONLY(kind) (1u << (kind))

/* Calls of this thread count from now on. */
void fault_follow(void);

/* The nth call from now on of a kind in `kinds` fails; 0 = none does. Resets the counts. */
void fault_arm(uint32_t kinds, uint64_t nth);

/* The name of the call that failed since; NULL: none did. Static. */
const char *fault_struck(void);

/* How many calls of a kind there were since fault_arm. */
uint64_t fault_count(enum fault_kind kind);

#endif
