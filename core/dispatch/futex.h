/* SPDX-License-Identifier: MIT */
/*
 * dispatch/futex.h - sleeps on a word, and wakes its sleepers (Linux).
 */
#ifndef DISPATCH_FUTEX_H
#define DISPATCH_FUTEX_H

#include <stdatomic.h>
#include <stdint.h>

/* Sleeps while *word is `expected`, at most `timeout_ns` (UINT64_MAX: no time-out). May return at
 * any time: the caller checks again. */
void futex_wait(_Atomic uint32_t *word, uint32_t expected, uint64_t timeout_ns);

/* Wakes one sleeper. */
void futex_wake(_Atomic uint32_t *word);

/* Wakes all sleepers. */
void futex_wake_all(_Atomic uint32_t *word);

#endif
