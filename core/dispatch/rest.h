/* SPDX-License-Identifier: MIT */
/*
 * dispatch/rest.h - notifies the program and the timekeeper when a thread wakes.
 *
 * A program that only needs to look while threads run rests while all threads sleep: it requests
 * one call at the first wake-up. Any thread.
 */
#ifndef DISPATCH_REST_H
#define DISPATCH_REST_H

#include "dispatch/doze.h"
#include "dispatch/layout.h"

/*
 * Requests one call of `stir` when a thread wakes. True when all of them sleep; false: one is
 * awake, and may go on without the call. Any thread.
 */
bool dispatcher_rest(struct dispatcher *dispatcher);
/* Cancels the request. The call may be under way all the same. */
void dispatcher_end_rest(struct dispatcher *dispatcher);

void dispatcher_call_stir(struct dispatcher *dispatcher);

/* The calling thread is awake and not counted as parked any more: calls `stir` if requested. */
static inline void dispatcher_stir(struct dispatcher *dispatcher)
{
    /* [R1] seq_cst: see dispatcher_rest. */
    if (atomic_load_explicit(&dispatcher->rests, memory_order_seq_cst))
        dispatcher_call_stir(dispatcher);
    if (dispatcher->options.doze)
        doze_stir(dispatcher->options.doze);
}

#endif
