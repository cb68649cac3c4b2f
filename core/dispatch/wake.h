/* SPDX-License-Identifier: MIT */
/*
 * dispatch/wake.h - wakes sleeping threads of a dispatcher.
 *
 * A thread sleeps on its token, a futex word. To wake it, another thread sets bits in that word.
 *
 *              | any thread | await
 *   any thread |     -      |   -      X = the owner of the executor; - = any threads at once
 *   await      |     -      |   X
 */
#ifndef DISPATCH_WAKE_H
#define DISPATCH_WAKE_H

#include <stdint.h>

struct dispatcher;
struct executor;

#define WAKE_PICKED 1u /* by idle_pick: search */
#define WAKE_KICKED 2u /* look at the deadlines again */

/* Wakes one parked thread, unless one searches already. */
void wake_any(struct dispatcher *dispatcher);

/* `bits`: WAKE_... */
void wake_thread(struct executor *executor, uint32_t bits);

/* Sleeps until picked; other reasons to wake do not count. */
void wake_await(struct executor *executor);

#endif
