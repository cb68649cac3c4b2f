/* SPDX-License-Identifier: MIT */
#include "pool/pull_queue.h"

#include "actor/wanted.h"

void pull_set_waiting_locked(struct pool *pool)
{
    /* Relaxed: a hint whether the lock is worth taking; see pulling_pass_on. */
    atomic_store_explicit(&pool->owner.waiting, pool->pull.messages.count, memory_order_relaxed);
}

uint64_t pull_size_of(const struct message *message)
{
    return message->public.reserved & MESSAGE_TAKE ? 0 : message->public.size;
}

void pull_count_locked(struct pull_queue *pull, const struct message *message, bool comes)
{
    uint64_t size = pull_size_of(message);
    uint32_t tries = (message->public.reserved & MESSAGE_TRIES) != 0;

    pull->bytes = comes ? pull->bytes + size : pull->bytes - size;
    if (tries) /* relaxed: a turn that misses it ends before the taker's message came */
        atomic_fetch_add_explicit(&pull->tries, comes ? 1u : UINT32_MAX, memory_order_relaxed);
}

void pull_note_due_locked(struct pull_queue *pull, const struct message *message)
{
    pull->spoils |= wanted_may_end(message);
    if (message->public.kind == WEIR_REQUEST && message->deadline_ns < pull->wanted_due_ns)
        pull->wanted_due_ns = message->deadline_ns;
}

void pull_count_left_locked(struct pool *pool, const struct message *message)
{
    pool->gone.accepted++;
    if (message->public.reserved & MESSAGE_TAKE)
        pool->gone.moved++;
    else
        pool->gone.dead++;
}

static void set_note(struct place *place, enum place_note note)
{
    atomic_store_explicit(&place->noted, (uint8_t)note, memory_order_relaxed);
}

static void add_sleeping(struct pull_queue *pull, int32_t by)
{
    uint32_t sleeping = atomic_load_explicit(&pull->sleeping, memory_order_relaxed);

    atomic_store_explicit(&pull->sleeping, sleeping + (uint32_t)by, memory_order_relaxed);
}

void pull_note_free_locked(struct place *place)
{
    struct pull_queue *pull = &pool_of_place(place)->pull;

    list_append(&pull->idle, &place->pulling);
    set_note(place, PLACE_FREE);
    add_sleeping(pull, 1);
}

void pull_unnote_locked(struct place *place, enum place_note note)
{
    struct pull_queue *pull = &pool_of_place(place)->pull;

    list_remove(&place->pulling);
    set_note(place, note);
    add_sleeping(pull, -1);
}

struct pool *pull_first_locked(struct pool *pool, struct pool *group)
{
    const struct message *own = message_queue_first(&pool->pull.messages.queue);
    const struct message *above = group ? message_queue_first(&group->pull.messages.queue) : NULL;

    return above && (!own || above->queued_ns < own->queued_ns) ? group : pool;
}

struct message *pull_take_out_locked(struct pool *from)
{
    struct message *message = message_list_take(&from->pull.messages);

    if (message) {
        pull_count_locked(&from->pull, message, false);
        pull_set_waiting_locked(from);
    }
    return message;
}

void pull_call_locked(struct place *place, struct pull_queue *caller, uint64_t now_ns)
{
    place->called_by = caller;
    /* Relaxed, as below: figures for takers and for growth. */
    atomic_store_explicit(&place->called_ns, now_ns, memory_order_relaxed);
    atomic_fetch_add_explicit(&caller->called, 1, memory_order_relaxed);
}

void pull_end_call_locked(struct place *place)
{
    if (place->called_by)
        atomic_fetch_sub_explicit(&place->called_by->called, 1, memory_order_relaxed);
    place->called_by = NULL;
}
