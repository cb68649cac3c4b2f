/* SPDX-License-Identifier: MIT */
#include "pool/outcome.h"

#include <string.h>

#include "actor/runtime.h"
#include "actor/send.h"

int outcome_ask(struct pool *pool, struct executor *executor, weir_pid to, uint64_t epoch)
{
    struct weir_pool_resized outcome = { .epoch = epoch };
    struct message *message = message_create(
        &executor->cache, tag_table_get(&pool->runtime->tags, WEIR_POOL_RESIZED), sizeof outcome);
    int status = 0;

    if (!message)
        return WEIR_ENOMEM;
    memcpy(message->public.data, &outcome, sizeof outcome);
    message->public.from = pool->pid;
    message->to = to;
    lock_acquire(&pool->lock);
    if (flags_is_closing(&pool->flags))
        status = WEIR_ECLOSED;
    else if (epoch > pool->epoch)
        status = WEIR_EINVALID;
    else
        message_list_append(&pool->outcomes, message);
    lock_release(&pool->lock);
    if (status != 0)
        message_destroy(&executor->cache, message);
    else
        outcome_notify(pool, executor);
    return status;
}

/* Adds the result of a place. False: it is still open. */
static bool add_place(const struct place *place, struct weir_pool_resized *outcome)
{
    if (place->opened)
        outcome->live++;
    if (place->opened || place->epoch > outcome->epoch)
        return true;
    /* Acquire pairs with the release in open_actor: the status is of an open. */
    if (atomic_load_explicit(&place->opens, memory_order_acquire) == 0)
        return false;
    outcome->error = atomic_load_explicit(&place->open_status, memory_order_relaxed);
    return true;
}

/* Fills the message. False: some opens have no result yet. */
static bool fill_locked(struct pool *pool, struct message *message)
{
    struct weir_pool_resized outcome;

    memcpy(&outcome, message->public.data, sizeof outcome);
    for (struct list *node = pool->places.next; node != &pool->places; node = node->next)
        if (!add_place(LIST_ENTRY(node, struct place, link), &outcome))
            return false;
    if (flags_is_closing(&pool->flags))
        outcome.error = WEIR_ECLOSED;
    memcpy(message->public.data, &outcome, sizeof outcome);
    return true;
}

static void take_due_locked(struct pool *pool, struct message_list *out_due)
{
    struct message_list waiting = pool->outcomes;
    struct message *message;

    pool->outcomes = (struct message_list){ 0 };
    while ((message = message_list_take(&waiting)))
        message_list_append(fill_locked(pool, message) ? out_due : &pool->outcomes, message);
}

void outcome_notify(struct pool *pool, struct executor *executor)
{
    struct message_list due = { 0 };
    struct message *message;

    lock_acquire(&pool->lock);
    take_due_locked(pool, &due);
    lock_release(&pool->lock);
    while ((message = message_list_take(&due)))
        /* The requester may have ended. */
        if (send_notice(pool->runtime, executor, message->to, message) != 0)
            message_destroy(&executor->cache, message);
}
