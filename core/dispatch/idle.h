/* SPDX-License-Identifier: MIT */
/*
 * dispatch/idle.h - counts sleeping and searching threads, and chooses the one to wake.
 *
 * One word counts the searching threads and the parked threads; a bitmap shows which
 * are parked. At most half of the threads search. No thread is woken while another searches: a
 * searcher that finds work passes the wake-up on when there is more work (see executor.c), so that
 * wake-ups never come in herds.
 *
 * Lost wake-ups: a thread that makes work visible reads the counts afterwards; a parking thread
 * writes the counts and then looks for work; all four are seq_cst, so one of them sees the other.
 */
#ifndef DISPATCH_IDLE_H
#define DISPATCH_IDLE_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define IDLE_THREADS_MAX 1024
#define IDLE_NOBODY UINT32_MAX
#define IDLE_PAUSES 32 /* spin-loop hints between two checks of a search */

struct idle {
    /* advisory: written by a resize, read by threads that want to search */
    _Atomic uint32_t searchers_max;
    alignas(64) _Atomic uint64_t counts;            /* searching in the low half, parked high */
    _Atomic uint64_t parked[IDLE_THREADS_MAX / 64]; /* a bit per thread */
};

void idle_init(struct idle *idle, uint32_t searchers_max);

/* Any thread. */
void idle_set_searchers_max(struct idle *idle, uint32_t searchers_max);

/* Asks to search. False: enough others do; the caller parks. */
bool idle_try_search(struct idle *idle);

/* Between two checks of a search: some spin-loop hints. */
static inline void idle_pause(void)
{
    for (int i = 0; i < IDLE_PAUSES; i++) {
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#else
        atomic_signal_fence(memory_order_seq_cst);
#endif
    }
}

/* Ends a search that found work. True: it was the last one, so the caller wakes the next. */
bool idle_found(struct idle *idle);

/* Announces that a thread parks; it looks for work once more after this. */
void idle_park(struct idle *idle, uint32_t index, bool was_searching);

/* Takes the announcement back; the thread searches again. False: it has been chosen to wake, and
 * its token is on the way. */
bool idle_unpark_self(struct idle *idle, uint32_t index);

/* Chooses a parked thread to wake; it counts as searching from now on. IDLE_NOBODY: none is parked,
 * or one searches already. */
uint32_t idle_pick(struct idle *idle);

/* Advisory. */
bool idle_is_parked(struct idle *idle, uint32_t index);

uint32_t idle_parked_count(struct idle *idle);
uint32_t idle_searching_count(struct idle *idle);

#endif
