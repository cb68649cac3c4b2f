/*
 * dispatch/press.h - threads from which thieves take less for some time, or nothing: theft.h.
 *
 * A thread is pressed when a sender on it lacks room, or gets some: its actors belong together,
 * unless their handlers take long. A thread is spared when thefts from it did not pay.
 *
 *   all functions: any threads of the dispatcher at once
 */
#ifndef DISPATCH_PRESS_H
#define DISPATCH_PRESS_H

#include "dispatch/layout.h"

#define PRESS_BEATS 4u /* a stream whose mailbox is full is refused many times in them */
#define SPARE_BEATS 8u /* thefts that only find out whether they pay take 1 to 3 % of the time */

/* Relaxed, all: a guess of thieves, written once a beat at most. */
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

static inline void press_begin(struct executor *executor)
{
    press_note_beat(executor, &executor->pressed_beat);
}

static inline bool press_lasts(const struct executor *executor)
{
    return press_beats_since(executor, &executor->pressed_beat) < PRESS_BEATS;
}

static inline void press_spare(struct executor *executor)
{
    press_note_beat(executor, &executor->spared_beat);
}

static inline bool press_is_spared(const struct executor *executor)
{
    return press_beats_since(executor, &executor->spared_beat) < SPARE_BEATS;
}

#endif
