/* SPDX-License-Identifier: MIT */
#include "pool/places.h"

#include "actor/actor_ext.h"
#include "actor/children.h"
#include "actor/lease.h"
#include "actor/lease_turn.h"
#include "actor/lifecycle.h"
#include "actor/newcomer.h"
#include "actor/runtime.h"
#include "pool/backed_up.h"
#include "pool/ending.h"
#include "pool/escalation.h"
#include "pool/lease_group.h"
#include "pool/lending.h"
#include "pool/outcome.h"
#include "pool/outlet.h"
#include "pool/pulling.h"
#include "pool/rebalance.h"
#include "pool/renewal.h"
#include "pool/resize.h"
#include "pool/route.h"
#include "pool/route_ops.h"
#include "pool/settings.h"
#include "pool/takers.h"
#include "pool/unwanted.h"

void pool_place_publish_locked(struct pool *pool, struct place *place)
{
    if (place->has_names)
        names_publish(&pool->runtime->names, actor_pid(place->actor));
}

static void opened(struct place *place)
{
    struct pool *pool = pool_of_place(place);
    const struct actor_ext *ext = place->actor->ext;
    bool let_in;

    lock_acquire(&pool->lock);
    place->opened = true;
    renewal_opened_locked(place);
    place->has_names = ext && ext->has_names;
    let_in = place->standing == PLACE_MEMBER;
    if (let_in) {
        mailbox_open(&place->actor->mailbox);
        rebalance_opened_locked(pool, place, place->actor->executor);
        pulling_set_stopped_locked(pool);
    }
    /* Also for a draining worker: it keeps its names until it ends. */
    if (place->standing != PLACE_PREPARED)
        pool_place_publish_locked(pool, place);
    lock_release(&pool->lock);
    newcomer_begin(place->actor);
    if (let_in)
        pool_wake_waiters(pool, place->actor->executor);
    outcome_notify(pool, place->actor->executor);
}

static void failed(struct place *place)
{
    struct pool *pool = pool_of_place(place);

    lock_acquire(&pool->lock);
    place->opened = false;
    renewal_broken_locked(place);
    rebalance_failed_locked(pool, place);
    mailbox_close(&place->actor->mailbox);
    pulling_awake(place);
    lock_release(&pool->lock);
    lease_group_missed(pool, place->actor->executor);
    outcome_notify(pool, place->actor->executor);
}

static void stopped(struct place *place)
{
    struct pool *pool = pool_of_place(place);

    lock_acquire(&pool->lock);
    pulling_set_stopped_locked(pool);
    lock_release(&pool->lock);
    lease_group_stopped(pool, place->actor->executor);
}

static bool is_leaving(struct place *place, uint64_t *out_due_ns)
{
    struct pool *pool = pool_of_place(place);
    bool leaving;

    lock_acquire(&pool->lock);
    leaving = place->standing == PLACE_LEAVING;
    if (out_due_ns)
        *out_due_ns = place->ordered_due_ns;
    lock_release(&pool->lock);
    return leaving;
}

static bool ends(struct place *place)
{
    return flags_is_closing(&pool_of_place(place)->flags);
}

/* The spec that a reload left for the worker. */
static bool take_spec(struct place *place, struct spec **out_spec)
{
    struct pool *pool = pool_of_place(place);

    lock_acquire(&pool->lock);
    *out_spec = place->respec;
    place->respec = NULL;
    lock_release(&pool->lock);
    return *out_spec != NULL;
}

/* Whether the pool has no other worker that finishes its queue: all others are gone or stopped. */
static bool is_last_locked(const struct pool *pool, const struct place *place)
{
    const struct list *lists[] = { &pool->places, &pool->leavers };

    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        for (const struct list *node = lists[i]->next; node != lists[i]; node = node->next) {
            const struct place *other = LIST_ENTRY(node, struct place, link);

            if (other != place && actor_state(other->actor) != ACTOR_STOPPED)
                return false;
        }
    return true;
}

/* Whether the place must finish the queue. `leaves_queue`: its worker cannot do it now; but the
 * last one that waits for its pause does it afterwards. */
static bool keeps_queue_locked(const struct pool *pool, struct place *place, bool leaves_queue)
{
    if (leaves_queue &&
        (actor_state(place->actor) != ACTOR_WAITING || !is_last_locked(pool, place)))
        return false;
    return pulling_keeps(place);
}

bool pool_place_may_close(struct place *place, bool leaves_queue)
{
    struct pool *pool = pool_of_place(place);
    bool may;

    lock_acquire(&pool->lock);
    /* Checked under the lock: the worker may have been recalled and have received work since. A
     * member that stays must finish the queue if the pool has closed since it found the queue
     * empty. */
    may = place->standing == PLACE_LEAVING && mailbox_empty(&place->actor->mailbox) &&
          !keeps_queue_locked(pool, place, leaves_queue);
    if (may) {
        list_remove(&place->link);
        list_append(&pool->closers, &place->link);
    }
    lock_release(&pool->lock);
    return may;
}

/* Removes the place from the pool, which keeps its figures. */
static void ended(struct place *place)
{
    struct executor *executor = place->actor->executor;
    struct pool *pool = pool_of_place(place);
    struct lease *lease = atomic_load_explicit(&place->lease, memory_order_relaxed);
    struct ledger_reading reading;

    pulling_awake(place);
    if (lease)
        leases_leave(lease);
    lock_acquire(&pool->lock);
    ledger_read(&place->actor->ledger, &place->actor->mailbox, &reading);
    lease_add_ledger(place, &reading);
    children_add_ledger(place, &reading);
    ledger_reading_add(&pool->gone, &reading);
    pool->gone_retried += atomic_load_explicit(&place->retried, memory_order_relaxed);
    pool->gone_restarts += atomic_load_explicit(&place->restarts, memory_order_relaxed);
    children_add_progress(place, &pool->gone_progress);
    list_remove(&place->link);
    backed_up_left_locked(pool, place);
    outlet_leave_locked(place, executor);
    lock_release(&pool->lock);
    lease_group_missed(pool, executor);
    pulling_end_if_left(pool, executor);
    lease_group_stopped(pool, executor); /* it may have been the last that had not stopped */
    pool_end_if_empty(pool, executor);
}

/* --- the backlog ------------------------------------------------------------------------------ */

static bool is_going(const struct pool *pool)
{
    /* Acquire pairs with the releases in pool_close and pool_mark_removed. */
    return flags_is_closing(&pool->flags) ||
           atomic_load_explicit(&pool->removed, memory_order_acquire);
}

/* The receiver of a backlog: the pool, or, if the whole pool is removed, the first pool above that
 * stays, but never a pool that broadcasts. */
static struct pool *pool_that_stays(struct pool *pool)
{
    while (pool->parent && is_going(pool) && !route_ops_of(pool->parent)->copies)
        pool = pool->parent;
    return pool;
}

static int reroute(struct place *place, struct message *message)
{
    struct pool *pool = pool_that_stays(pool_of_place(place));

    return is_going(pool) ? WEIR_ECLOSED : route_message(pool, place->actor->executor, message);
}

/* Whether the place and the present members were made of one spec. */
static bool has_equals(struct place *place)
{
    struct pool *pool = pool_of_place(place);
    bool has;

    lock_acquire(&pool->lock);
    has = place->made_of == pool->spec;
    lock_release(&pool->lock);
    return has;
}

/* A message with a key, or a copy, stays with its worker. */
static bool may_share(const struct pool *pool)
{
    return route_takes_any(route_ops_of(pool));
}

/* Whether any worker of the pool is open. */
static bool has_open(const struct pool *pool)
{
    /* [P1] pairs with members_publish. */
    const struct members *members = atomic_load_explicit(&pool->members, memory_order_acquire);

    for (uint32_t i = 0; i < members->count; i++) {
        const struct member *member = &members->members[i];

        if (member->pool ? has_open(member->pool) : !mailbox_is_closed(&member->actor->mailbox))
            return true;
    }
    return false;
}

static int hand_back(struct place *place, struct message *message, bool finishes)
{
    struct pool *own = pool_of_place(place);
    struct pool *pool = finishes ? own : pool_that_stays(own);
    int status;

    if (is_going(pool))
        return WEIR_ECLOSED;
    if (!may_share(own) || !may_share(pool) || (finishes && !has_equals(place)))
        return WEIR_EUNSUPPORTED;
    status = route_uncounted(pool, place->actor->executor, message, NULL);
    /* Only what an open worker has no room for has to wait. */
    return status == WEIR_EFULL && !has_open(pool) ? WEIR_EUNSUPPORTED : status;
}

static void discard(struct place *place, bool as_removed)
{
    struct pool *pool = pool_of_place(place);

    /* Acquire pairs with the release in pool_mark_removed. */
    if (pulling_keeps(place) &&
        (!as_removed || atomic_load_explicit(&pool->removed, memory_order_acquire)))
        pulling_discard(pool, place->actor->executor);
}

static void return_credit(struct owner *owner, uint32_t places, uint32_t pulled,
                          struct executor *executor)
{
    struct pool *pool = pool_of_owner(owner);
    uint64_t room = pulled ? pulling_room(pool) : 0;

    places += (uint32_t)(room < pulled ? room : pulled);
    for (; pool; pool = pool->parent) {
        /* A waiter's key decides which worker it needs, so all waiters must look, not only the
         * first. */
        if (route_ops_of(pool)->has_keys)
            places = UINT32_MAX;
        if (wait_queue_any(&pool->waiters))
            wait_queue_wake(&pool->waiters, places, executor);
    }
}

static void pass_on(struct owner *owner, struct executor *executor)
{
    lease_group_pass_on(pool_of_owner(owner), executor);
}

static void relieve(struct place *place, struct executor *executor, struct message_list *out)
{
    struct message *take = lease_take_offer(place, executor_time(executor));

    if (take)
        lease_group_hand_on(place, take, executor);
    if (mailbox_waiting(&place->actor->mailbox) == 0)
        return;
    unwanted_take_out(place, executor, out);
    (void)rebalance_relieve(place, executor);
}

static void drop(struct owner *owner, struct executor *executor, struct message_list *unwanted)
{
    unwanted_end(pool_of_owner(owner), executor, unwanted);
}

const struct owner_ops pool_owner_ops = {
    .replaces = true,
    .members = true,
    .opened = opened,
    .failed = failed,
    .stopped = stopped,
    .reroute = reroute,
    .hand_back = hand_back,
    .credit = return_credit,
    .pass_on = pass_on,
    .ended = ended,
    .is_leaving = is_leaving,
    .may_close = pool_place_may_close,
    .ends = ends,
    .take_spec = take_spec,
    .take = pulling_take,
    .awake = pulling_awake,
    .end_loan = lending_end,
    .comes = takers_come,
    .put_back = lease_group_put_back,
    .keeps = pulling_keeps,
    .discard = discard,
    .give = rebalance_give,
    .relieve = relieve,
    .drop = drop,
    .back_up = backed_up_share,
    .fetch = backed_up_fetch,
    .appeal = escalation_appeal,
    .escalate = escalation_raise,
    .restart = renewal_begin,
};
