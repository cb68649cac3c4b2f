/* SPDX-License-Identifier: MIT */
/*
 * bytes.h - counts the bytes that a program asks for, in all threads.
 *
 * CMake gives it to a program by weir_wrap_allocations(TARGET bytes.c).
 */
#ifndef TESTS_UNIT_SUPPORT_BYTES_H
#define TESTS_UNIT_SUPPORT_BYTES_H

#include <stdint.h>

/* Bytes so far; freed bytes are not subtracted. */
uint64_t bytes_allocated(void);

#endif
