/* SPDX-License-Identifier: MIT */
/*
 * dispatch/timer.h - the deadlines of one dispatcher.
 *
 * A binary heap behind a mutex, with the earliest deadline readable without it. An actor has one
 * timer here for all of its deadlines. Firing happens under the lock, so that a timer which has
 * been disarmed is not firing any more; `fire` must therefore be short and must not arm or disarm.
 *
 * Any thread, any operation.
 */
#ifndef DISPATCH_TIMER_H
#define DISPATCH_TIMER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/lock.h"

struct executor;
struct timer;

#define TIMER_NEVER UINT64_MAX
#define TIMERS_AT_ONCE 64u /* some microseconds under the lock */

struct timer {
    uint64_t due_ns; /* lock */
    uint32_t place;  /* lock; index in the heap + 1; 0 = not armed */
    void (*fire)(struct timer *timer, struct executor *executor); /* const */
};

struct timers {
    struct lock lock;
    struct timer **heap;          /* lock */
    uint32_t count;               /* lock */
    uint32_t capacity;            /* lock */
    uint32_t reserved;            /* lock; timers that exist, armed or not */
    _Atomic uint64_t next_due_ns; /* written under lock, read by all */
};

void timers_init(struct timers *timers);
void timers_finish(struct timers *timers);

/* Reserves memory for one more timer, so that arming cannot fail. WEIR_ENOMEM. */
int timers_reserve(struct timers *timers);
void timers_release(struct timers *timers);

/* Arms, or moves, a timer with reserved memory. True when it is now the earliest. */
bool timers_arm(struct timers *timers, struct timer *timer, uint64_t due_ns);
void timers_disarm(struct timers *timers, struct timer *timer);

/* Fires up to TIMERS_AT_ONCE due timers, so that the lock is held briefly; true when more are
 * due. */
bool timers_expire(struct timers *timers, uint64_t now_ns, struct executor *executor);

#endif
