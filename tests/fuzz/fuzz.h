/* SPDX-License-Identifier: MIT */
/*
 * fuzz.h - one input of a fuzzer, in the form that libFuzzer calls.
 *
 * `./dev fuzz` links a target with libFuzzer, which makes inputs up; `./dev test` links it with
 * replay.c, which tries the kept ones.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* Tries one input; aborts when something is wrong. Borrows. Returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
