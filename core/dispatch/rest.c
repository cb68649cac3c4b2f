/* SPDX-License-Identifier: MIT */
#include "dispatch/rest.h"

bool dispatcher_rest(struct dispatcher *dispatcher)
{
    /*
     * [R1] seq_cst: written before the counts are read; a waking or new thread is counted before it
     * reads this. So this thread sees it awake, or it sees that it must call `stir`.
     */
    atomic_store_explicit(&dispatcher->rests, true, memory_order_seq_cst);
    return idle_parked_count(&dispatcher->idle) ==
           atomic_load_explicit(&dispatcher->running, memory_order_seq_cst);
}

void dispatcher_end_rest(struct dispatcher *dispatcher)
{
    atomic_store_explicit(&dispatcher->rests, false, memory_order_seq_cst);
}

void dispatcher_call_stir(struct dispatcher *dispatcher)
{
    if (atomic_exchange_explicit(&dispatcher->rests, false, memory_order_seq_cst))
        dispatcher->options.stir(dispatcher->options.stir_context);
}
