/* SPDX-License-Identifier: MIT */
#include "pool/lending.h"

#include "actor/actor_ext.h"
#include "actor/lease.h"
#include "actor/request.h"
#include "actor/runtime.h"
#include "pool/pull_queue.h"
#include "pool/route_ops.h"

void lending_prepare_locked(struct actor *actor, bool lends)
{
    struct place *place = actor->place;

    place->lends = lends;
    place->look_ns = lends ? actor->ext->armed_ns : TIMER_NEVER;
}

void lending_adopt_locked(struct place *place)
{
    atomic_store_explicit(&place->noted, PLACE_NOT_NOTED, memory_order_relaxed);
    lease_adopt_locked(place->actor);
}

/* A member serves the queues of its pool and of the group. `group` may be NULL. */
static void lock_queues(struct pool *pool, struct pool *group)
{
    if (group)
        lock_acquire(&group->pull.lock);
    lock_acquire(&pool->pull.lock);
}

static void release_queues(struct pool *pool, struct pool *group)
{
    lock_release(&pool->pull.lock);
    if (group)
        lock_release(&group->pull.lock);
}

/* Takes may come to the queue, and members come for them. */
static bool gives_locked(const struct pool *pool)
{
    return pool->pull.leases && !pool->pull.closed && leases_are_given(&pool->leases);
}

static bool may_lend_locked(const struct pool *pool, const struct pool *group)
{
    return gives_locked(pool) && route_ops_of(pool)->pulls && (!group || gives_locked(group));
}

static bool anybody_waits_locked(const struct pool *pool, const struct pool *group)
{
    return pool->pull.messages.count > 0 || (group && group->pull.messages.count > 0);
}

/* Nothing waits for its next turn: no message, event or order. Whoever sends to it has taken its
 * idle state down before a take that begins later. */
static bool is_asleep(const struct place *place)
{
    return actor_is_idle(place->actor) && !mailbox_is_closed(&place->actor->mailbox);
}

/* The member that became free last. NULL: it may not be lent, or there is none. */
static struct place *find_locked(const struct pool *pool, const struct pool *group)
{
    struct place *place;

    if (!may_lend_locked(pool, group) || anybody_waits_locked(pool, group) ||
        list_empty(&pool->pull.idle))
        return NULL;
    place = LIST_ENTRY(pool->pull.idle.previous, struct place, pulling);
    return place->lends && is_asleep(place) ? place : NULL;
}

static struct lease *lease_at(const struct place *place)
{
    /* Relaxed: it was written before the place was noted under the lock. */
    return atomic_load_explicit(&place->lease, memory_order_relaxed);
}

static void open_locked(struct place *place, struct executor *executor, uint64_t queued_ns,
                        uint64_t now_ns, struct weir_lease *out)
{
    struct lease *lease = lease_at(place);
    uint64_t due_ns = leases_due(lease->leases, now_ns);

    leases_open_loan_locked(lease, queued_ns, now_ns, due_ns, out);
    if (due_ns < place->look_ns)
        (void)actor_signal(place->actor, actor_serial_of(actor_pid(place->actor)), executor,
                           SIGNAL_TIME);
}

bool lending_begin(struct pool *pool, const struct pool *asked, struct executor *executor,
                   struct weir_lease *out)
{
    const uint64_t now_ns = executor_look_at_clock(executor);
    struct pool *group = lease_group_of(pool);
    struct place *place;

    if (asked != pool && (asked != group || flags_is_paused(&pool->flags)))
        return false;
    /* Relaxed: a member that becomes free at the same time may be missed. */
    if (atomic_load_explicit(&pool->pull.sleeping, memory_order_relaxed) == 0)
        return false;
    lock_acquire(&pool->leases.lock);
    lock_queues(pool, group);
    place = find_locked(pool, group);
    if (place) {
        pull_unnote_locked(place, PLACE_LENT);
        open_locked(place, executor, now_ns, now_ns, out);
    }
    release_queues(pool, group);
    lock_release(&pool->leases.lock);
    return place != NULL;
}

/* Takes out what has waited longest, if it is a take of the program that is still wanted. */
static struct message *take_first_locked(struct pool *pool, struct pool *group,
                                         struct executor *executor)
{
    struct pool *from = pull_first_locked(pool, group);
    struct message *first = message_queue_first(&from->pull.messages.queue);

    if (!(first->public.reserved & MESSAGE_TAKE) || lease_is_watched(first) ||
        request_why_given_up(pool->runtime, executor, first) != 0)
        return NULL;
    return pull_take_out_locked(from);
}

static bool end_locked(struct pool *pool, struct pool *group, struct place *place,
                       struct executor *executor, uint64_t now_ns, struct loan *out_next)
{
    struct lease *lease = lease_at(place);
    uint64_t loans = atomic_load_explicit(&lease->loans, memory_order_relaxed);

    if (pull_note_of(place) != PLACE_LENT || !may_lend_locked(pool, group) || !is_asleep(place))
        return false;
    if (!anybody_waits_locked(pool, group)) {
        pull_note_free_locked(place);
    } else {
        out_next->take = take_first_locked(pool, group, executor);
        if (!out_next->take)
            return false;
        open_locked(place, executor, out_next->take->queued_ns, now_ns, &out_next->lease);
    }
    atomic_store_explicit(&lease->loans, loans + 1, memory_order_relaxed);
    return true;
}

bool lending_end(struct place *place, struct executor *executor, uint64_t now_ns,
                 struct loan *out_next)
{
    struct pool *pool = pool_of_place(place);
    struct pool *group = lease_group_of(pool);
    bool is_over;

    if (group && flags_is_paused(&pool->flags))
        return false; /* it serves its own queue alone */
    lock_queues(pool, group);
    is_over = end_locked(pool, group, place, executor, now_ns, out_next);
    release_queues(pool, group);
    return is_over;
}

void lending_read_ledger(struct place *place, struct ledger_reading *out)
{
    struct pool *pool = pool_of_place(place);

    lock_acquire(&pool->pull.lock);
    ledger_read(&place->actor->ledger, &place->actor->mailbox, out);
    lease_add_ledger(place, out);
    lock_release(&pool->pull.lock);
}
