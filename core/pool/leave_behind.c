/* SPDX-License-Identifier: MIT */
#include "pool/leave_behind.h"

#include "actor/actor_ext.h"
#include "actor/left_behind.h"
#include "actor/port.h"
#include "actor/restart.h"
#include "actor/room_queue.h"
#include "actor/runtime.h"
#include "actor/settle.h"
#include "dispatch/put_offline.h"
#include "pool/backed_up.h"
#include "pool/outcome.h"
#include "pool/pull_queue.h"
#include "pool/pulling.h"
#include "pool/rebalance.h"
#include "pool/resize.h"
#include "pool/settings.h"

/* One worker is left behind. */
struct leaving_behind {
    struct pool *pool;
    struct actor *actor;
    struct executor *by;
    struct place *successor;
    struct members *next;
    struct message_list dead; /* copies of what it has in hand */
    const char *why;
};

static struct place *place_of_locked(const struct pool *pool, const struct actor *actor)
{
    for (const struct list *node = pool->places.next; node != &pool->places; node = node->next)
        if (LIST_ENTRY(node, struct place, link)->actor == actor)
            return LIST_ENTRY(node, struct place, link);
    return NULL;
}

/* A dispatcher with a budget of 1 has no spare threads. Relaxed: a policy that changes meanwhile is
 * as good as one that changes afterwards. */
static bool has_no_thread_left(struct dispatcher *dispatcher)
{
    return atomic_load_explicit(&dispatcher->budget, memory_order_relaxed) == 1 &&
           idle_parked_count(&dispatcher->idle) == 0;
}

/* New workers wait until the old ones have handled the messages of their keys. */
static bool has_newcomer_locked(const struct pool *pool)
{
    for (const struct list *node = pool->places.next; node != &pool->places; node = node->next)
        /* Relaxed: whether there is one; the lock of the pool orders the rest. */
        if (atomic_load_explicit(&LIST_ENTRY(node, struct place, link)->handover,
                                 memory_order_relaxed))
            return true;
    return false;
}

static const char *refusal_locked(const struct leaving_behind *leaving)
{
    if (flags_is_closing(&leaving->pool->flags))
        return "its pool is closing";
    if (has_newcomer_locked(leaving->pool))
        return "new workers of its pool wait until it has handled the messages of their keys";
    if (has_no_thread_left(leaving->actor->dispatcher))
        return "its dispatcher has no thread left, and with a budget of 1 no spare one stands in";
    return left_behind_refusal(leaving->actor);
}

/* Everything that may fail. */
static int prepare_locked(struct leaving_behind *leaving, uint32_t index)
{
    struct pool *pool = leaving->pool;
    int status;

    leaving->why = refusal_locked(leaving);
    if (leaving->why)
        return WEIR_ENOTALLOWED;
    leaving->next = members_create(resize_count_locked(pool));
    status = leaving->next
                 ? resize_make_one_locked(pool, leaving->by, pool->spec, index, &leaving->successor)
                 : WEIR_ENOMEM;
    if (status != 0) {
        members_destroy(leaving->next);
        return status;
    }
    status = left_behind_copy(leaving->actor, leaving->by, &leaving->dead);
    if (status != 0) {
        struct list made;

        list_init(&made);
        list_append(&made, &leaving->successor->link);
        resize_unmake_locked(&made, leaving->by);
        members_destroy(leaving->next);
    }
    return status;
}

/* What is in hand leaves the figures of the worker, and ends in those of the pool. */
static void count_dead_locked(const struct leaving_behind *leaving)
{
    const struct message *message = message_queue_first(&leaving->dead.queue);

    for (uint32_t i = 0; i < leaving->dead.count; i++) {
        if (!(message->public.reserved & MESSAGE_OUTSIDE_LEDGER)) {
            settle_moved(leaving->actor);
            pull_count_left_locked(leaving->pool, message);
        }
        /* Relaxed: this thread's own list. */
        message = atomic_load_explicit(&message->next, memory_order_relaxed);
    }
}

/* The successor has the number and the seat, so keys of `hash` stay with the place. */
static void replace_locked(struct leaving_behind *leaving, struct place *place)
{
    struct pool *pool = leaving->pool;
    struct place *successor = leaving->successor;
    struct list made;

    mailbox_close(&place->actor->mailbox);
    left_behind_begin(place->actor, successor->actor, leaving->by);
    count_dead_locked(leaving);
    rebalance_left_locked(pool, place, leaving->by);
    backed_up_left_locked(pool, place);
    place->standing = PLACE_LEAVING;
    place->ordered_due_ns = resize_leave_due_ns(pool, leaving->by);
    place->has_names = false;
    successor->seat = place->seat;
    atomic_store_explicit(&successor->renewal, RENEWAL_BEGUN, memory_order_relaxed);
    ledger_count(&successor->restarts);
    list_init(&made);
    list_append(&made, &successor->link);
    rebalance_made_locked(pool, &made);
    resize_begin_locked(&made, NULL, leaving->by);
    list_remove(&successor->link);
    list_append(&place->link, &successor->link); /* in front of it */
    list_remove(&place->link);
    list_append(&pool->closers, &place->link);
    resize_publish_locked(pool, leaving->next, leaving->by);
    pool->epoch++;
    room_queue_wake(place->actor, UINT32_MAX, leaving->by);
}

/* Its threads send nothing more. */
static void close_port(struct actor *actor)
{
    if (!actor->ext)
        return;
    port_close(actor->ext->port);
    actor->ext->port = NULL;
}

/* The thread of the actor is held. */
static int leave_held(struct leaving_behind *leaving, uint32_t index)
{
    struct pool *pool = leaving->pool;
    struct place *place;
    int status = WEIR_EUNKNOWN;

    lock_acquire(&pool->lock);
    place = place_of_locked(pool, leaving->actor);
    if (place && place->index == index)
        status = prepare_locked(leaving, index);
    if (status == 0)
        replace_locked(leaving, place);
    lock_release(&pool->lock);
    if (status == 0)
        close_port(leaving->actor);
    return status;
}

static void finish(struct leaving_behind *leaving, uint32_t index)
{
    struct pool *pool = leaving->pool;
    struct message *message;

    log_event(&pool->runtime->options.log, WEIR_LOG_WARNING, pool->path, "worker is left behind",
              weir_uint("worker", index), weir_uint("in_hand", leaving->dead.count),
              weir_str("effect", "its thread stays in its callback, what it has in hand is dead, "
                                 "and a new worker has its number"));
    while ((message = message_list_take(&leaving->dead)))
        pulling_end_message(pool, leaving->by, message, DEAD_STUCK, WEIR_ECRASHED);
    pool_wake_waiters(pool, leaving->by);
    outcome_notify(pool, leaving->by);
}

int pool_leave_behind(struct pool *pool, uint32_t index, const struct turn_at *at,
                      struct executor *executor, const char **out_why)
{
    struct dispatcher *dispatcher = pool->runtime->dispatchers[at->dispatcher];
    struct executor *slow = dispatcher_executor(dispatcher, at->thread);
    struct leaving_behind leaving = { .pool = pool, .by = executor };
    int status = WEIR_ENOTALLOWED;

    leaving.why = "its callback has just returned, or its thread cannot be held";
    if (executor_try_hold(slow)) {
        leaving.actor = atomic_load_explicit(&slow->current, memory_order_relaxed);
        if (atomic_load_explicit(&slow->turns, memory_order_relaxed) == at->turns && leaving.actor)
            status = leave_held(&leaving, index);
        executor_release(slow);
    }
    if (status == 0)
        finish(&leaving, index);
    else
        *out_why = leaving.why;
    return status;
}
