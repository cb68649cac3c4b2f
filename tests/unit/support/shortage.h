/* SPDX-License-Identifier: MIT */
/*
 * shortage.h - allocations that fail when a test says so.
 *
 * CMake gives it to a program by weir_wrap_allocations(TARGET shortage.c). Messages of a thread
 * share allocations, but under AddressSanitizer each message is one allocation.
 */
#ifndef TESTS_UNIT_SUPPORT_SHORTAGE_H
#define TESTS_UNIT_SUPPORT_SHORTAGE_H

#include <stdbool.h>
#include <stdint.h>

/* The nth allocation of this thread from now on fails; 0: none does. With `and_all_after` also the
 * later ones. */
void shortage_begin(uint32_t nth, bool and_all_after);
/* No more allocation of this thread fails. Returns how many were left before one would; 0: one has
 * failed. */
uint32_t shortage_end(void);

/* Whether all allocations fail, but for threads that called shortage_spare. */
void shortage_of_others(bool none_left);
void shortage_spare(void);

#endif
