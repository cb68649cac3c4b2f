/* SPDX-License-Identifier: MIT */
#include "pool/takers.h"

#include "actor/request.h"
#include "actor/runtime.h"
#include "actor/settle.h"
#include "pool/pull_queue.h"

/* --- room ------------------------------------------------------------------------------------- */

/* Workers that the pool may start by itself. */
static uint32_t growth_locked(const struct pool *pool)
{
    const uint32_t able = FLAGS_SENSES | FLAGS_STUCK;

    return (flags_word(&pool->flags) & able) == FLAGS_SENSES
               ? atomic_load_explicit(&pool->pull.growth, memory_order_relaxed)
               : 0;
}

uint64_t takers_unused_locked(const struct pool *pool, bool at_once)
{
    const struct pull_queue *pull = &pool->pull;
    uint64_t unused = (uint64_t)atomic_load_explicit(&pull->called, memory_order_relaxed) +
                      atomic_load_explicit(&pull->sleeping, memory_order_relaxed);

    if (!at_once)
        unused += (uint64_t)atomic_load_explicit(&pull->opening, memory_order_relaxed) +
                  growth_locked(pool);
    return unused;
}

/* Takers for members that are not in use, and, unless it is for a try, takers that may wait. */
uint64_t takers_room_locked(const struct pool *pool, bool tries)
{
    uint64_t limit = takers_unused_locked(pool, tries) + (tries ? 0 : pool->pull.limit);
    uint32_t count = pool->pull.messages.count;

    return count < limit ? limit - count : 0;
}

void takers_come(struct place *place, bool at_once, uint64_t now_ns)
{
    struct pull_queue *pull = &pool_of_place(place)->pull;

    lock_acquire(&pull->lock);
    if (place->called_by || place->opens_for) {
        /* it comes already */
    } else if (at_once) {
        pull_call_locked(place, pull, now_ns);
    } else {
        place->opens_for = pull;
        atomic_fetch_add_explicit(&pull->opening, 1, memory_order_relaxed);
    }
    lock_release(&pull->lock);
}

enum takers_coming takers_coming(const struct place *place, uint64_t now_ns)
{
    /* Relaxed: compared with a time. */
    uint64_t called_ns = atomic_load_explicit(&place->called_ns, memory_order_relaxed);

    if (called_ns == 0)
        return TAKERS_NOT_CALLED;
    return now_ns < called_ns + TAKERS_LATE_NS ? TAKERS_COMES : TAKERS_LATE;
}

/* False: it does not count already. */
static bool give_up_call(struct place *place)
{
    struct pull_queue *pull = &pool_of_place(place)->pull;
    bool is_called;

    lock_acquire(&pull->lock);
    is_called = place->called_by != NULL;
    pull_end_call_locked(place);
    lock_release(&pull->lock);
    return is_called;
}

static bool give_up_late(const struct list *places, uint64_t now_ns)
{
    bool any = false;

    for (struct list *node = places->next; node != places; node = node->next) {
        struct place *place = LIST_ENTRY(node, struct place, link);

        any |= takers_coming(place, now_ns) == TAKERS_LATE && give_up_call(place);
    }
    return any;
}

bool takers_give_up_late_locked(struct pool *pool, uint64_t now_ns)
{
    bool any;

    if (!leases_are_given(&pool->leases) && !lease_group_of(pool))
        return false; /* nobody comes for takers */
    any = give_up_late(&pool->places, now_ns);
    any |= give_up_late(&pool->leavers, now_ns);
    return give_up_late(&pool->closers, now_ns) || any;
}

/* --- takers that are not served --------------------------------------------------------------- */

/* A TAKE that ends without a lease, after it was counted as left. Takes it. */
void takers_refuse(struct pool *pool, struct executor *executor, struct message *take, int status)
{
    leases_count_unserved(&pool->leases, status);
    settle_stray(pool->runtime, executor, take, DEAD_REMOVED, status, 0);
}

/* Settles takers that were taken out. `otherwise`: the status of takers that have not given up. */
static void settle_takers(struct pool *pool, struct executor *executor, struct message_list *takers,
                          int otherwise)
{
    struct message *message;

    while ((message = message_list_take(takers))) {
        int status = request_why_given_up(pool->runtime, executor, message);

        takers_refuse(pool, executor, message, status ? status : otherwise);
    }
}

struct message_list takers_take_tries_locked(struct pool *pool, uint64_t unused)
{
    struct pull_queue *pull = &pool->pull;
    struct message_list out = { 0 };
    struct message_list stay = { 0 };
    struct message *message;

    if (pull->messages.count <= unused)
        return out;
    while ((message = message_list_take(&pull->messages))) {
        bool goes = (message->public.reserved & MESSAGE_TRIES) && stay.count >= unused;

        if (goes) {
            pull_count_locked(pull, message, false);
            pull_count_left_locked(pool, message);
        }
        message_list_append(goes ? &out : &stay, message);
    }
    pull->messages = stay;
    pull_set_waiting_locked(pool);
    return out;
}

void takers_refuse_tries(struct pool *pool, struct executor *executor, struct message_list *tries)
{
    if (tries->count > 0)
        settle_takers(pool, executor, tries, WEIR_EFULL);
}

/* Answers tries for which no member comes any more. */
void takers_drop_tries(struct pool *pool, struct executor *executor)
{
    struct message_list tries;

    lock_acquire(&pool->lock);
    lock_acquire(&pool->pull.lock);
    tries = takers_take_tries_locked(pool, takers_unused_locked(pool, true));
    lock_release(&pool->pull.lock);
    lock_release(&pool->lock);
    takers_refuse_tries(pool, executor, &tries);
}
