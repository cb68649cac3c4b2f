/* SPDX-License-Identifier: MIT */
/*
 * fiber_threads.h - runs a program that makes threads as fibers, in an order that a seed decides.
 *
 * In a program linked with weir_test_fiber_threads, the functions of the C library that make, join
 * and time threads, wait for conditions and read the monotonic clock, and core's futex, belong to
 * the fibers of fibers.h while fiber_threads_run runs. So a thread of the runtime, the timekeeper
 * and a thread of the program are fibers; a lost wake-up leaves them asleep for ever.
 */
#ifndef TESTS_STORM_FIBER_THREADS_H
#define TESTS_STORM_FIBER_THREADS_H

#include <stdbool.h>
#include <stdint.h>

/* Calls `body`, the program's main thread, and returns true when it and all threads have ended.
 * False, with the reason printed: nothing can go on, or there is no end. All is left as it is. */
bool fiber_threads_run(uint64_t seed, void (*body)(void *context), void *context);

#endif
