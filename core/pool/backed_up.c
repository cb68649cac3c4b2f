/* SPDX-License-Identifier: MIT */
#include "pool/backed_up.h"

#include "actor/lifecycle.h"
#include "pool/pool.h"
#include "pool/rebalance.h"
#include "pool/unwanted.h"

static void enter(struct pool *pool, struct place *place)
{
    lock_acquire(&pool->lock);
    if (list_empty(&place->backed_up)) {
        list_append(&pool->backed_up, &place->backed_up);
        /* [BU1] seq_cst, as the looks at mailboxes that follow. */
        atomic_fetch_add_explicit(&pool->owner.backed_up, 1, memory_order_seq_cst);
    }
    lock_release(&pool->lock);
}

static void leave_locked(struct pool *pool, struct place *place)
{
    list_remove(&place->backed_up);
    list_init(&place->backed_up);
    /* Relaxed: a member that still reads the old count finds the list without the place. */
    atomic_fetch_sub_explicit(&pool->owner.backed_up, 1, memory_order_relaxed);
}

static uint32_t waiting_at(const struct place *place)
{
    return mailbox_waiting(&place->actor->mailbox);
}

static void drop_unwanted(struct pool *pool, struct place *place)
{
    struct message_list unwanted = { 0 };

    unwanted_take_out(place, place->actor->executor, &unwanted);
    unwanted_end(pool, place->actor->executor, &unwanted);
}

static bool may_share(const struct pool *pool, struct actor *actor)
{
    return rebalance_shares(pool) && actor_state(actor) == ACTOR_OPEN && !actor->leaving;
}

/* A worker whose messages stay although members are idle is not in the list: they are its own. */
static void share(struct pool *pool, struct place *place)
{
    enter(pool, place);
    if (rebalance_relieve(place, place->actor->executor))
        return;
    lock_acquire(&pool->lock);
    backed_up_left_locked(pool, place);
    lock_release(&pool->lock);
}

bool backed_up_share(struct place *place)
{
    struct pool *pool = pool_of_place(place);
    bool may = may_share(pool, place->actor);

    if (waiting_at(place) > 0)
        drop_unwanted(pool, place);
    if (may && waiting_at(place) > 0)
        share(pool, place);
    return may;
}

/* The first one with messages, out of the list; those before it have been served meanwhile. NULL:
 * none. */
static struct place *take_locked(struct pool *pool)
{
    while (!list_empty(&pool->backed_up)) {
        struct place *place = LIST_ENTRY(pool->backed_up.next, struct place, backed_up);

        leave_locked(pool, place);
        if (waiting_at(place) > 0)
            return place;
    }
    return NULL;
}

void backed_up_fetch(struct owner *owner, struct executor *executor)
{
    struct pool *pool = pool_of_owner(owner);
    struct place *place;

    lock_acquire(&pool->lock);
    place = take_locked(pool);
    if (place)
        (void)actor_signal(place->actor, actor_serial_of(actor_pid(place->actor)), executor,
                           SIGNAL_WORK);
    lock_release(&pool->lock);
}

void backed_up_left_locked(struct pool *pool, struct place *place)
{
    if (!list_empty(&place->backed_up))
        leave_locked(pool, place);
}
