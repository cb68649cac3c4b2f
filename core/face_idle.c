/* SPDX-License-Identifier: MIT */
/* Waiting until a pool has nothing to do: face/groups.h. */
#include "actor/runtime.h"
#include "face/groups.h"
#include "face/pool.h"

struct idle_wait {
    struct runtime *runtime;
    weir_pid pool;
    bool known; /* the pool was there once */
};

static bool has_nothing_to_do(struct pool *pool)
{
    struct ledger_reading reading = { 0 };

    pool_ledger(pool, &reading);
    return reading.queued + reading.in_hand + reading.held == 0;
}

/* Also true when there is no such pool, or the runtime ends. */
static bool is_over(void *context)
{
    struct idle_wait *wait = context;
    struct executor *executor = runtime_enter(wait->runtime);
    struct pool *pool = NULL;
    bool over;

    if (!executor)
        return runtime_is_ending(wait->runtime);
    if (!runtime_is_ending(wait->runtime)) /* later its pools may be gone */
        pool = pool_find(wait->runtime, wait->pool);
    wait->known |= pool != NULL;
    over = !pool || has_nothing_to_do(pool);
    runtime_leave(executor);
    return over;
}

/*
 * A worker settles its messages, falls asleep by a read-modify-write of its admission word, which
 * the ledger reads, and then reads `idle_waits`; a thread that waits counts itself there before it
 * reads the ledger. So one of the two sees the other.
 */
static bool wait_for(struct idle_wait *wait, uint64_t timeout_ms)
{
    bool over;

    atomic_fetch_add_explicit(&wait->runtime->idle_waits, 1, memory_order_seq_cst);
    over = runtime_wait(wait->runtime, is_over, wait, timeout_ms);
    atomic_fetch_sub_explicit(&wait->runtime->idle_waits, 1, memory_order_relaxed);
    return over;
}

int runtime_wait_idle(struct runtime *runtime, weir_pid pool, uint64_t timeout_ms)
{
    struct idle_wait wait = { .runtime = runtime, .pool = pool };

    if (runtime_is_own_thread(runtime))
        return WEIR_EDEADLK;
    if (!wait_for(&wait, timeout_ms))
        return WEIR_ETIMEOUT;
    if (runtime_is_ending(runtime))
        return WEIR_ECLOSED;
    return wait.known ? 0 : WEIR_EUNKNOWN;
}
