/* SPDX-License-Identifier: MIT */
/*
 * dispatch/press.h - threads from which thieves take less for some time, or nothing: theft.h.
 *
 * A thread is pressed when a sender on it lacks room, or gets some: its actors belong together,
 * unless their handlers take long. A thread is exempt when thefts from it did not pay.
 *
 *   all functions: any threads of the dispatcher at once
 */
#ifndef DISPATCH_PRESS_H
#define DISPATCH_PRESS_H

#include "dispatch/layout.h"

#define PRESS_BEATS 4u  /* a stream whose mailbox is full is refused many times in them */
#define EXEMPT_BEATS 8u /* decision 140: `big` loses 3.5 % with four of them, 2 % with 16 */

/* Relaxed, here and below: a guess of thieves, written once a beat at most. */
static inline void press_note_beat(const struct executor *executor, _Atomic uint32_t *noted)
{
    uint32_t beat = atomic_load_explicit(&executor->dispatcher->beat, memory_order_relaxed);

    if (atomic_load_explicit(noted, memory_order_relaxed) != beat)
        atomic_store_explicit(noted, beat, memory_order_relaxed);
}

static inline uint32_t press_beats_since(const struct executor *executor,
                                         const _Atomic uint32_t *noted)
{
    return atomic_load_explicit(&executor->dispatcher->beat, memory_order_relaxed) -
           atomic_load_explicit(noted, memory_order_relaxed);
}

/* A sender on that thread lacks room, or gets some. */
static inline void press_begin(struct executor *executor)
{
    press_note_beat(executor, &executor->pressed_beat);
}

static inline bool press_lasts(const struct executor *executor)
{
    return press_beats_since(executor, &executor->pressed_beat) < PRESS_BEATS;
}

/* The last thefts of a thief, the very last one from that thread, did not pay. */
static inline void press_exempt(struct executor *executor)
{
    press_note_beat(executor, &executor->exempt_beat);
}

static inline bool press_is_exempt(const struct executor *executor)
{
    return press_beats_since(executor, &executor->exempt_beat) < EXEMPT_BEATS;
}

#endif
