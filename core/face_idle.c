/* Waiting until a pool has nothing to do: face/groups.h. */
#include "actor/runtime.h"
#include "face/groups.h"
#include "face/pool.h"

static bool is_idle(void *context)
{
    struct ledger_reading reading = { 0 };

    pool_ledger(context, &reading);
    return reading.queued + reading.in_hand + reading.held == 0;
}

/*
 * A worker settles its messages, falls asleep by a read-modify-write of its admission word, which
 * the ledger reads, and then reads `idle_waits`; a thread that waits counts itself there before it
 * reads the ledger. So one of the two sees the other.
 */
bool pool_wait_idle(struct runtime *runtime, struct pool *pool, uint64_t timeout_ms)
{
    bool idle;

    atomic_fetch_add_explicit(&runtime->idle_waits, 1, memory_order_seq_cst);
    idle = runtime_wait(runtime, is_idle, pool, timeout_ms);
    atomic_fetch_sub_explicit(&runtime->idle_waits, 1, memory_order_relaxed);
    return idle;
}
