/*
 * dispatch/press.h - a pressed thread: its actors belong together, unless their handlers take long.
 *
 * A thread is pressed when a sender on it lacks room, or gets some, and when thefts do not
 * pay. theft.h says what thieves leave to a pressed thread.
 *
 *   begin lasts: any threads of the dispatcher at once
 */
#ifndef DISPATCH_PRESS_H
#define DISPATCH_PRESS_H

#include "dispatch/layout.h"

#define PRESS_BEATS 4u /* a stream whose mailbox is full is refused many times in them */

/* Relaxed, all: a guess of thieves, written once a beat at most. */
static inline void press_begin(struct executor *executor)
{
    uint32_t beat = atomic_load_explicit(&executor->dispatcher->beat, memory_order_relaxed);

    if (atomic_load_explicit(&executor->pressed_beat, memory_order_relaxed) != beat)
        atomic_store_explicit(&executor->pressed_beat, beat, memory_order_relaxed);
}

/* True for PRESS_BEATS after the last sign. */
static inline bool press_lasts(const struct executor *executor)
{
    return atomic_load_explicit(&executor->dispatcher->beat, memory_order_relaxed) -
               atomic_load_explicit(&executor->pressed_beat, memory_order_relaxed) <
           PRESS_BEATS;
}

#endif
