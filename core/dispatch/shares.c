/* SPDX-License-Identifier: MIT */
#include "dispatch/shares.h"

#include "dispatch/layout.h"
#include "dispatch/schedulable.h"
#include "dispatch/wake.h"

void shares_set_on(struct dispatcher *dispatcher)
{
    /* Relaxed: it is in effect from one of the next turns on. */
    if (!dispatcher_divides(dispatcher))
        atomic_store_explicit(&dispatcher->divides, true, memory_order_relaxed);
}

static const void *party_of(const struct dispatcher *dispatcher,
                            const struct schedulable *schedulable)
{
    return dispatcher->options.party ? dispatcher->options.party(schedulable) : schedulable;
}

/* --- turns ------------------------------------------------------------------------------------ */

/* Relaxed: a changed number of threads counts from one of the next turns on. */
static bool is_extra(const struct executor *executor)
{
    return executor->index >=
           atomic_load_explicit(&executor->dispatcher->regular, memory_order_relaxed);
}

static uint32_t half_of(const struct dispatcher *dispatcher)
{
    return (atomic_load_explicit(&dispatcher->wanted, memory_order_relaxed) + 1) / 2;
}

static void count_locked(struct executor *executor, struct share *share)
{
    executor->share = share;
    executor->is_extra = is_extra(executor);
    if (executor->is_extra)
        share->extra_turns++;
    else
        share->turns++;
}

static bool may_begin_locked(const struct executor *executor, const struct share *share)
{
    if (is_extra(executor))
        return share->turns == 0 && share->extra_turns == 0;
    return share->turns < half_of(executor->dispatcher);
}

bool shares_begin(struct executor *executor, struct schedulable *schedulable)
{
    struct dispatcher *dispatcher = executor->dispatcher;
    struct share_list *shares = &dispatcher->shares;
    const void *party = party_of(dispatcher, schedulable);
    struct share *share;
    bool begins;

    if (executor->share) /* by shares_take */
        return true;
    lock_acquire(&shares->lock);
    share = share_list_get_locked(shares, party);
    /* Without memory for a share the turn is not counted. */
    begins = !share || may_begin_locked(executor, share);
    if (share && begins)
        count_locked(executor, share);
    else if (share)
        share_list_push_locked(shares, share, schedulable);
    lock_release(&shares->lock);
    if (begins && shares_any_wait(dispatcher))
        wake_any(dispatcher);
    return begins;
}

/* The actor to queue again; NULL: none. */
static struct schedulable *end_locked(struct executor *executor, struct share_list *shares)
{
    struct share *share = executor->share;
    struct schedulable *next = NULL;

    if (executor->is_extra)
        share->extra_turns--;
    else
        share->turns--;
    if (share->turns < half_of(executor->dispatcher))
        next = share_list_pop_locked(shares, share);
    share_list_look_locked(shares, share);
    executor->share = NULL;
    return next;
}

void shares_end(struct executor *executor)
{
    struct dispatcher *dispatcher = executor->dispatcher;
    struct share_list *shares = &dispatcher->shares;
    struct schedulable *next;

    lock_acquire(&shares->lock);
    next = end_locked(executor, shares);
    lock_release(&shares->lock);
    if (!next)
        return;
    global_queue_push(&dispatcher->global, next);
    wake_any(dispatcher);
}

/* --- nothing else to do ----------------------------------------------------------------------- */

bool shares_any_wait(struct dispatcher *dispatcher)
{
    return atomic_load_explicit(&dispatcher->shares.waiting, memory_order_seq_cst) > 0;
}

bool shares_wait_for(const struct executor *executor)
{
    struct dispatcher *dispatcher = executor->dispatcher;

    /* seq_cst, both: the thread sees the new number of threads, or who changes it sees that an
     * actor waits, and wakes a thread. */
    return shares_any_wait(dispatcher) &&
           executor->index < atomic_load_explicit(&dispatcher->regular, memory_order_seq_cst);
}

/* The parties take turns. */
static struct schedulable *take_locked(struct executor *executor, struct share_list *shares)
{
    struct share *share = share_list_next_locked(shares);

    if (!share)
        return NULL;
    count_locked(executor, share);
    return share_list_pop_locked(shares, share);
}

struct schedulable *shares_take(struct executor *executor)
{
    struct share_list *shares = &executor->dispatcher->shares;
    struct schedulable *taken;

    if (!shares_wait_for(executor))
        return NULL;
    lock_acquire(&shares->lock);
    taken = take_locked(executor, shares);
    lock_release(&shares->lock);
    return taken;
}
