/* SPDX-License-Identifier: MIT */
#include "pool/ending.h"

#include "actor/events.h"
#include "actor/runtime.h"
#include "pool/lease_group.h"
#include "pool/nesting.h"
#include "pool/outcome.h"
#include "pool/pulling.h"
#include "pool/resize.h"
#include "pool/scaler.h"
#include "pool/settings.h"
#include "pool/unwanted.h"

static bool is_empty_locked(struct pool *pool)
{
    return list_empty(&pool->places) && list_empty(&pool->leavers) && list_empty(&pool->closers) &&
           list_empty(&pool->prepared) && pool->child_count == 0;
}

void pool_end_if_empty(struct pool *pool, struct executor *executor)
{
    uint32_t signals;
    bool ends;

    lock_acquire(&pool->lock);
    signals = pool->killed ? SIGNAL_SHUTDOWN | SIGNAL_KILL : SIGNAL_SHUTDOWN;
    ends = flags_is_closing(&pool->flags) && !pool->ending && is_empty_locked(pool);
    pool->ending |= ends;
    lock_release(&pool->lock);
    if (!ends)
        return;
    pulling_discard(pool, executor);
    (void)actor_signal(pool->actor, actor_serial_of(pool->pid), executor, signals);
}

void pool_actor_ended(struct pool *pool, struct executor *executor)
{
    struct pool *parent = pool->parent;

    if (atomic_load_explicit(&pool->has_subscribed, memory_order_acquire))
        events_forget(pool->runtime, executor, pool->pid);
    scaler_finish(pool);
    lock_acquire(&pool->lock);
    pool->manager = NULL;
    lock_release(&pool->lock);
    pool_give_up_name(pool, executor);
    wait_queue_dissolve(&pool->waiters, executor);
    /* Relaxed: the creator releases the pool only after it has seen the end. */
    atomic_fetch_add_explicit(&pool->holders, 1, memory_order_relaxed);
    /* Before the pool above can end: when that has ended, all pools in it have. */
    lock_acquire(&pool->lock);
    pool->ended = true;
    lock_release(&pool->lock);
    if (nesting_leave(pool, executor) == 0)
        pool_destroy(pool, executor); /* the holder of this call */
    else
        nesting_lose(pool); /* it becomes that of the pool above */
    if (parent) {
        pool_wake_waiters(parent, executor); /* a key may have another owner now */
        pool_end_if_empty(parent, executor);
    }
}

static void dismiss_all_locked(struct pool *pool, struct executor *executor)
{
    struct list leaving;

    list_init(&leaving);
    pool->target = 0;
    pulling_set_bounds_locked(pool); /* before a member can find the queue empty */
    resize_choose_locked(pool, UINT32_MAX, &leaving);
    resize_dismiss_locked(pool, &leaving, executor);
    pool->epoch++;
}

void pool_close(struct pool *pool, struct executor *executor)
{
    struct pool *child;
    uint32_t order = 0;

    lock_acquire(&pool->lock);
    /* First, so that no sender finds the queue closed while another finds the pool paused. The
     * members may stay published: all of them are closed. */
    flags_set(&pool->flags, FLAGS_CLOSING, FLAGS_CLOSING);
    pulling_close_locked(pool);
    dismiss_all_locked(pool, executor);
    lock_release(&pool->lock);
    unwanted_refuse_takers(pool, executor, WEIR_ECLOSED);
    lease_group_stopped(pool, executor);
    while ((child = nesting_next_open(pool, &order)))
        pool_close(child, executor);
    outcome_notify(pool, executor);
    /* also of the pools above: a broadcast skips this pool now */
    pool_wake_waiters(pool, executor);
    pool_end_if_empty(pool, executor);
}

/* Marks the pool and the pools in it, before any of their workers is ordered to leave. */
void pool_mark_removed(struct pool *pool)
{
    lock_acquire(&pool->lock);
    /* Release pairs with the acquire in places.c, discard. */
    atomic_store_explicit(&pool->removed, true, memory_order_release);
    for (uint32_t i = 0; i < pool->child_count; i++)
        pool_mark_removed(pool->children[i]);
    lock_release(&pool->lock);
}

void pool_remove(struct pool *pool, struct executor *executor)
{
    pool_mark_removed(pool);
    pool_close(pool, executor);
}

void pool_give_up_name(struct pool *pool, struct executor *executor)
{
    names_remove(&pool->runtime->names, pool->path, pool->pid, &executor->reader);
}

void pool_yield_name(struct pool *pool)
{
    names_yield(&pool->runtime->names, pool->path, pool->pid);
}

static void stop_places_locked(struct list *places, struct executor *executor, uint32_t signals)
{
    for (struct list *node = places->next; node != places; node = node->next) {
        struct actor *actor = LIST_ENTRY(node, struct place, link)->actor;

        (void)actor_signal(actor, actor_serial_of(actor_pid(actor)), executor, signals);
    }
}

static void end_waiting_locked(struct list *places, struct executor *executor)
{
    for (struct list *node = places->next; node != places; node = node->next) {
        struct place *place = LIST_ENTRY(node, struct place, link);

        place->ordered_due_ns = executor_time(executor);
        atomic_store_explicit(&place->is_cut_short, true, memory_order_relaxed);
        (void)actor_signal(place->actor, actor_serial_of(actor_pid(place->actor)), executor,
                           SIGNAL_DRAIN);
    }
}

void pool_end_waiting(struct pool *pool, struct executor *executor)
{
    lock_acquire(&pool->lock);
    end_waiting_locked(&pool->leavers, executor);
    end_waiting_locked(&pool->closers, executor);
    for (uint32_t i = 0; i < pool->child_count; i++)
        pool_end_waiting(pool->children[i], executor);
    lock_release(&pool->lock);
}

/* Depth is bounded by the configuration; parents lock before children, always. */
static void stop_members(struct pool *pool, struct executor *executor, uint32_t signals)
{
    lock_acquire(&pool->lock);
    stop_places_locked(&pool->places, executor, signals);
    stop_places_locked(&pool->leavers, executor, signals);
    stop_places_locked(&pool->closers, executor, signals);
    for (uint32_t i = 0; i < pool->child_count; i++)
        stop_members(pool->children[i], executor, signals);
    lock_release(&pool->lock);
}

/* Marks the pool and the pools in it, before any of them can end. */
static void mark_killed(struct pool *pool)
{
    lock_acquire(&pool->lock);
    pool->killed = true;
    for (uint32_t i = 0; i < pool->child_count; i++)
        mark_killed(pool->children[i]);
    lock_release(&pool->lock);
}

void pool_stop_now(struct pool *pool, struct executor *executor)
{
    if (!flags_is_closing(&pool->flags))
        pool_close(pool, executor);
    stop_members(pool, executor, SIGNAL_STOP);
}

void pool_kill(struct pool *pool, struct executor *executor)
{
    mark_killed(pool);
    if (!flags_is_closing(&pool->flags))
        pool_close(pool, executor);
    stop_members(pool, executor, SIGNAL_STOP | SIGNAL_KILL);
}

bool pool_has_ended(struct pool *pool)
{
    bool ended;

    lock_acquire(&pool->lock);
    ended = pool->ended;
    lock_release(&pool->lock);
    return ended;
}
