/* SPDX-License-Identifier: MIT */
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

struct awaited {
    struct pool *pool;
    bool with_askers;
};

/* The pool has been asked by `part`. */
static bool is_awaited_by(void *context, weir_pid part)
{
    const struct awaited *awaited = context;
    struct pool *pool = awaited->pool;
    struct pool *asker;
    struct actor *actor;

    if (actor_find_alive(pool->runtime, part, &actor) != 0)
        return false;
    asker = pool_find(pool->runtime, part);
    if (asker && flags_is_closing(&asker->flags))
        return false;
    return is_busy(pool) || (awaited->with_askers && asker && is_busy(asker));
}

bool uses_is_awaited(struct pool *pool, bool with_askers)
{
    struct awaited awaited = { pool, with_askers };

    return (askers_lack_some(&pool->askers) && is_busy(pool)) ||
           askers_visit(&pool->askers, is_awaited_by, &awaited);
}
