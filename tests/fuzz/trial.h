/* SPDX-License-Identifier: MIT */
/*
 * trial.h - what the targets share: an assertion, and a file with given bytes.
 */
#ifndef TESTS_FUZZ_TRIAL_H
#define TESTS_FUZZ_TRIAL_H

#include <stdbool.h>
#include <stddef.h>

/* Ends the program unless that holds: the fuzzer keeps the input. */
void trial_must(bool holds, const char *what);

/* The path of one file of this process, in memory where there is /dev/shm. It goes at exit. */
const char *trial_path(void);
/* Makes that file have these bytes alone. Borrows. */
void trial_write(const void *bytes, size_t size);

/* Returns owned: the bytes in memory of exactly that size, so that AddressSanitizer sees a read
 * beyond them. */
char *trial_copy(const void *bytes, size_t size);

#endif
