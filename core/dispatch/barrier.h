/* SPDX-License-Identifier: MIT */
/*
 * dispatch/barrier.h - a full memory barrier on all threads of the process, requested by one of
 * them.
 *
 * Two threads that write one word each, and then read the other's, need a full barrier in between,
 * or both may read the old values. When one side runs often and the other seldom, the seldom one
 * requests the barrier for both. The often one only keeps its order in the compiler
 * (atomic_signal_fence).
 */
#ifndef DISPATCH_BARRIER_H
#define DISPATCH_BARRIER_H

#include <stdbool.h>

/* True when barrier_everywhere works in this process. Before the first call of that; any thread. A
 * system call. */
bool barrier_register(void);

/* Each thread of the process passes a full barrier before this function returns true. Interrupts
 * all threads that run. */
bool barrier_everywhere(void);

#endif
