/* SPDX-License-Identifier: MIT */
/*
 * faults.h - calls that fail when a test says so.
 *
 * CMakeLists.txt wraps them for a program. Only the calls of the program itself fail, not those
 * inside the C library. fsync does nothing. One thread.
 */
#ifndef FAULTS_H
#define FAULTS_H

#include <stdbool.h>
#include <stddef.h>

/* The calls, by index; NULL: there is none. */
const char *faults_name(size_t call);
size_t faults_call(const char *name);
/* True for a call that only fails for want of memory. */
bool faults_is_of_memory(size_t call);
/* The nth call from now on fails with this errno, 1 = the next one. */
void faults_begin(size_t call, unsigned nth, int error);
/* Likewise, and all after it. */
void faults_begin_at(size_t call, unsigned nth, int error);
/* No call fails. Returns how many have failed. */
unsigned faults_end(void);

#endif
