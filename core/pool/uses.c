#include "pool/uses.h"

#include "actor/find.h"
#include "actor/spec.h"
#include "pool/figures.h"

void uses_visit(struct pool *pool, void (*visit)(void *context, const char *path), void *context)
{
    lock_acquire(&pool->lock);
    if (pool->spec)
        spec_visit_pools(pool->spec, visit, context);
    if (pool->manager_spec)
        spec_visit_pools(pool->manager_spec, visit, context);
    lock_release(&pool->lock);
}

static bool is_busy(struct pool *pool)
{
    struct ledger_reading reading = { 0 };

    pool_ledger(pool, &reading);
    return reading.queued + reading.in_hand + reading.held > 0;
}

/* `pool` has been asked by `part`. */
static bool is_awaited_by(struct pool *pool, weir_pid part, bool with_askers)
{
    struct pool *asker;
    struct actor *actor;

    if (actor_find_alive(pool->runtime, part, &actor) != 0)
        return false;
    asker = pool_find(pool->runtime, part);
    if (asker && flags_is_closing(&asker->flags))
        return false;
    return is_busy(pool) || (with_askers && asker && is_busy(asker));
}

bool uses_is_awaited(struct pool *pool, bool with_askers)
{
    /* Relaxed: see askers.h. */
    if (atomic_load_explicit(&pool->askers.more, memory_order_relaxed) && is_busy(pool))
        return true;
    for (uint32_t i = 0; i < ASKERS_MAX; i++) {
        weir_pid part = atomic_load_explicit(&pool->askers.parts[i], memory_order_relaxed);

        if (part != 0 && is_awaited_by(pool, part, with_askers))
            return true;
    }
    return false;
}
