/* SPDX-License-Identifier: MIT */
/*
 * http1_trial.h - reads a request in pieces, and compares with a second reader.
 */
#ifndef TESTS_FUZZ_HTTP1_TRIAL_H
#define TESTS_FUZZ_HTTP1_TRIAL_H

#include <stddef.h>
#include <stdint.h>

/* Ends the program unless the strict reader and unit/wire/http1_plain.h agree on the request, and
 * the strict one says the same of the whole, of pieces of `piece` bytes, and of single bytes. */
void http1_trial(const char *request, size_t size, uint8_t piece);

#endif
