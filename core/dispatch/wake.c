/* SPDX-License-Identifier: MIT */
#include "dispatch/wake.h"

#include "dispatch/futex.h"
#include "dispatch/layout.h"

void wake_any(struct dispatcher *dispatcher)
{
    uint32_t picked = idle_pick(&dispatcher->idle);

    if (picked != IDLE_NOBODY)
        wake_thread(dispatcher->executors[picked], WAKE_PICKED);
}

void wake_thread(struct executor *executor, uint32_t bits)
{
    atomic_fetch_or_explicit(&executor->token, bits, memory_order_seq_cst);
    futex_wake(&executor->token);
}

void wake_await(struct executor *executor)
{
    while (!(atomic_exchange_explicit(&executor->token, 0, memory_order_seq_cst) & WAKE_PICKED))
        futex_wait(&executor->token, 0, UINT64_MAX);
}
