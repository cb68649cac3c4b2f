/* SPDX-License-Identifier: MIT */
/*
 * faults.h - calls of the C library that fail for want of memory when a test says so.
 *
 * CMakeLists.txt wraps them for a program.. Only the calls of the program itself
 * fail, not those inside the C library. fsync does nothing. One thread.
 */
#ifndef FAULTS_H
#define FAULTS_H

#include <stddef.h>

/* The calls, by index; NULL: there is none. */
const char *faults_name(size_t call);
/* The nth call from now on fails with ENOMEM, 1 = the next one. */
void faults_begin(size_t call, unsigned nth);
/* No call fails. Returns how many have failed: 0 or 1. */
unsigned faults_end(void);

#endif
