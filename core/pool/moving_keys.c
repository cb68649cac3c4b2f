/* SPDX-License-Identifier: MIT */
#include "pool/moving_keys.h"

#include "actor/newcomer.h"
#include "pool/pool.h"
#include "pool/route_ops.h"

static struct members *present_locked(struct pool *pool)
{
    /* Relaxed: written under the lock. */
    return atomic_load_explicit(&pool->members, memory_order_relaxed);
}

static uint64_t due_ns(const struct pool *pool, const struct executor *executor)
{
    if (pool->settings.remove.timeout_ms == 0)
        return TIMER_NEVER;
    return clock_after_ms(&executor->clock, pool->settings.remove.timeout_ms);
}

struct handover *moving_keys_begin_locked(struct pool *pool, const struct executor *executor)
{
    const struct members *members = present_locked(pool);
    struct handover *handover;

    if (!members || !route_ops_of(pool)->has_keys || members->count == 0 ||
        !members->members[0].actor)
        return NULL;
    handover = handover_create(members->count, clock_now_ns(&executor->clock),
                               due_ns(pool, executor));
    if (!handover)
        return NULL;
    /* The spec of the pool may be the next one already. */
    handover->in_order = !list_empty(&pool->places) &&
                         LIST_ENTRY(pool->places.next, struct place, link)->made_of->in_order;
    for (uint32_t i = 0; i < members->count; i++)
        handover->givers[i] = (struct giver){ .actor = members->members[i].actor,
                                              .serial = members->members[i].serial };
    return handover;
}

void moving_keys_hold_locked(const struct list *places, struct handover *handover)
{
    if (!handover)
        return;
    for (const struct list *node = places->next; node != places; node = node->next)
        newcomer_hold(LIST_ENTRY(node, struct place, link), handover);
}

void moving_keys_leave_locked(struct pool *pool, struct handover *handover)
{
    /* Each array is replaced once, right after this. */
    if (handover)
        present_locked(pool)->handover = handover;
}
