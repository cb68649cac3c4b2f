/* SPDX-License-Identifier: MIT */
#include "dispatch/doze.h"

#include "dispatch/futex.h"
#include "dispatch/timer.h"

void doze_init(struct doze *doze)
{
    atomic_init(&doze->token, 0);
    atomic_init(&doze->is_deep, false);
    atomic_init(&doze->until_ns, TIMER_NEVER);
}

void doze_end(struct doze *doze)
{
    atomic_store_explicit(&doze->token, 1, memory_order_seq_cst);
    futex_wake(&doze->token);
}

void doze_expect(struct doze *doze, uint64_t due_ns)
{
    /* [T1] seq_cst: see publish_locked in timer.c. */
    if (atomic_load_explicit(&doze->until_ns, memory_order_seq_cst) > due_ns)
        doze_end(doze);
}

void doze_stir(struct doze *doze)
{
    /* [K2] seq_cst: see may_doze in timekeeper.c. */
    if (atomic_load_explicit(&doze->is_deep, memory_order_seq_cst) &&
        atomic_exchange_explicit(&doze->is_deep, false, memory_order_seq_cst))
        doze_end(doze);
}
