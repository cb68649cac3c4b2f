/* SPDX-License-Identifier: MIT */
#include "actor/room_queue.h"

#include <stdlib.h>

#include "actor/router.h"

static struct wait_queue *make_room_queue(struct actor *actor)
{
    struct wait_queue *made = malloc(sizeof *made);
    struct wait_queue *present = NULL;

    if (!made)
        return NULL;
    wait_queue_init(made);
    /* seq_cst: before the second check of the admission word; see room_queue_dissolve. */
    if (atomic_compare_exchange_strong_explicit(&actor->room_queue, &present, made,
                                                memory_order_seq_cst, memory_order_acquire))
        return made;
    wait_queue_finish(made);
    free(made);
    return present;
}

struct wait_queue *room_queue_of(struct actor *actor)
{
    struct wait_queue *present;

    if (actor->router)
        return actor->router->waiters;
    /* Acquire pairs with the exchange in make_room_queue. */
    present = atomic_load_explicit(&actor->room_queue, memory_order_acquire);
    return present ? present : make_room_queue(actor);
}

void room_queue_wake(struct actor *actor, uint32_t max, struct executor *executor)
{
    /* seq_cst: after the read-modify-write that freed the place, as wait_queue.h asks for. */
    struct wait_queue *queue = atomic_load_explicit(&actor->room_queue, memory_order_seq_cst);

    if (queue && wait_queue_any(queue))
        wait_queue_wake(queue, max, executor);
}

void room_queue_dissolve(struct actor *actor, struct executor *executor)
{
    /* seq_cst: after the word was ended. A waiter that makes the queue later finds the
     * word ended. */
    struct wait_queue *queue = atomic_load_explicit(&actor->room_queue, memory_order_seq_cst);

    if (queue)
        wait_queue_dissolve(queue, executor);
}

void room_queue_destroy(struct actor *actor)
{
    /* Relaxed: after the grace period no other thread has the actor. */
    struct wait_queue *queue = atomic_load_explicit(&actor->room_queue, memory_order_relaxed);

    if (!queue)
        return;
    wait_queue_finish(queue);
    free(queue);
    atomic_store_explicit(&actor->room_queue, NULL, memory_order_relaxed);
}
