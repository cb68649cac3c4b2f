/* SPDX-License-Identifier: MIT */
#include "pool/settings.h"

#include "actor/children.h"
#include "actor/fullness.h"
#include "actor/room_queue.h"
#include "actor/runtime.h"
#include "pool/lease_group.h"
#include "pool/outlet.h"
#include "pool/pulling.h"
#include "pool/route_ops.h"

void pool_wake_waiters(struct pool *pool, struct executor *executor)
{
    fullness_forget(&pool->owner);
    for (; pool; pool = pool->parent)
        if (wait_queue_any(&pool->waiters))
            wait_queue_wake(&pool->waiters, UINT32_MAX, executor);
}

/* Wakes the senders that wait for one worker alone; the caller wakes those of the pool. */
static void set_limits_locked(struct list *places, const struct pool_settings *settings,
                              struct executor *executor)
{
    for (struct list *node = places->next; node != places; node = node->next) {
        struct actor *actor = LIST_ENTRY(node, struct place, link)->actor;

        mailbox_set_limit(&actor->mailbox, settings->mailbox);
        mailbox_set_bytes_limit(&actor->mailbox, settings->mailbox_bytes);
        room_queue_wake(actor, UINT32_MAX, executor);
    }
}

void pool_set_limits_locked(struct pool *pool, struct executor *executor)
{
    set_limits_locked(&pool->places, &pool->settings, executor);
    set_limits_locked(&pool->prepared, &pool->settings, executor);
    pulling_set_bounds_locked(pool);
}

void pool_set_limit(struct pool *pool, uint32_t limit, struct executor *executor)
{
    lock_acquire(&pool->lock);
    pool->settings.mailbox = limit;
    pool_set_limits_locked(pool, executor);
    lock_release(&pool->lock);
    pool_wake_waiters(pool, executor);
}

void pool_show_settings(struct pool *pool, const struct pool_settings *settings)
{
    flags_set(&pool->flags, FLAGS_ROUTE, (uint32_t)settings->route << FLAGS_ROUTE_SHIFT);
    /* Relaxed: see owner_may_give. */
    atomic_store_explicit(&pool->owner.shares, route_table[settings->route].pulls,
                          memory_order_relaxed);
}

void pool_set_route(struct pool *pool, enum weir_route route)
{
    lock_acquire(&pool->lock);
    pool->settings.route = route;
    pool_show_settings(pool, &pool->settings);
    lock_release(&pool->lock);
    fullness_forget(&pool->owner);
}

/* Makes workers that wait for room at a former target retry at the present target. */
static void look_again_locked(struct list *places, struct executor *executor)
{
    for (struct list *node = places->next; node != places; node = node->next) {
        struct place *place = LIST_ENTRY(node, struct place, link);
        struct actor *actor = place->actor;

        (void)actor_signal(actor, actor_serial_of(actor_pid(actor)), executor, SIGNAL_ROOM);
        children_look_again(place, executor);
    }
}

void pool_look_again_locked(struct pool *pool, struct executor *executor)
{
    look_again_locked(&pool->places, executor);
    look_again_locked(&pool->leavers, executor);
    look_again_locked(&pool->closers, executor);
}

void pool_set_wiring_locked(struct pool *pool, struct wiring *wiring, struct executor *executor)
{
    outlet_set_locked(&pool->outlets, wiring, executor);
    pool_look_again_locked(pool, executor);
}

void pool_set_wiring(struct pool *pool, struct wiring *wiring, struct executor *executor)
{
    lock_acquire(&pool->lock);
    pool_set_wiring_locked(pool, wiring, executor);
    lock_release(&pool->lock);
}

void pool_pause(struct pool *pool, bool paused, struct executor *executor)
{
    lock_acquire(&pool->lock);
    flags_set(&pool->flags, FLAGS_PAUSED, paused ? FLAGS_PAUSED : 0);
    lock_release(&pool->lock);
    if (!paused)
        pool_wake_waiters(pool, executor);
    lease_group_paused(pool, paused, executor);
}
