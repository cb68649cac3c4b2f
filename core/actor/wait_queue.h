/* SPDX-License-Identifier: MIT */
/*
 * actor/wait_queue.h - the waiters for places in a pool or in one actor, first come first served.
 *
 * A waiter joins with the number of places that it could use, checks once more whether there is
 * room, and sleeps. A turn that freed places grants them to the first waiters before it ends, and
 * wakes only those: a woken waiter finds room, unless a sender outside the queue was faster. A
 * waiter that finds the room taken again keeps its position. Lost wake-ups: a waiter increments
 * `count` by a read-modify-write before its second check, which reads the admission word. A freeing
 * turn ends with a read-modify-write of that word before it reads `count`.
 *
 * A waiter is the place of a worker or source, or an outside thread (send_wait.h). Any thread, any
 * operation, for different waiters; joining, using and leaving in a read section.
 */
#ifndef ACTOR_WAIT_QUEUE_H
#define ACTOR_WAIT_QUEUE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "base/lock.h"

struct executor;

struct wait_queue {
    struct lock lock;
    struct list list;       /* lock: of waiters */
    bool dissolved;         /* lock: waiting here is not possible any more */
    _Atomic uint32_t count; /* written under lock, read by freeing turns */
};

struct waiter {
    struct list link;                       /* lock of the queue that it is in */
    _Atomic(struct wait_queue *) waits_for; /* written under lock, read by its owner; NULL = none */
    uint32_t wants;                         /* lock: places that may be granted to it, at least 1 */
    /* written under lock, also read by its owner: granted places that it has not used */
    _Atomic uint32_t granted;
    /* Called under the lock, so that the waiter stays alive. const */
    void (*wake)(struct waiter *waiter, struct executor *executor);
};

void wait_queue_init(struct wait_queue *queue);
void wait_queue_finish(struct wait_queue *queue);

void waiter_init(struct waiter *waiter,
                 void (*wake)(struct waiter *waiter, struct executor *executor));

/* By the waiter's owner, which could use `wants` places, at least 1. A waiter of this queue
 * keeps its position, and may be woken again; it leaves another queue. After wait_queue_dissolve it
 * is woken at once, and is in no queue. */
void wait_queue_join(struct wait_queue *queue, struct waiter *waiter, uint32_t wants,
                     struct executor *executor);

/* By the waiter's owner, before it takes places: as many of those that it takes are granted ones.
 * A place that is granted later is another one, which it has not used. */
uint32_t wait_queue_granted(const struct waiter *waiter);

/* By the waiter's owner, which has used as many granted places; it may be woken for more. */
void wait_queue_use(struct waiter *waiter, uint32_t places);

/* By the waiter's owner: it leaves its queue. Granted places that it has not used go on to the next
 * waiter. */
void wait_queue_leave(struct waiter *waiter, struct executor *executor);

/* Ends the queue: all waiters leave, and look again. Any thread. */
void wait_queue_dissolve(struct wait_queue *queue, struct executor *executor);

/* Grants places to the first waiters that want more, and wakes them. */
void wait_queue_wake(struct wait_queue *queue, uint32_t places, struct executor *executor);

/* The number of places that its waiters want, and that are not granted to them. */
uint64_t wait_queue_wanted(struct wait_queue *queue);

static inline bool wait_queue_any(struct wait_queue *queue)
{
    return atomic_load_explicit(&queue->count, memory_order_seq_cst) > 0;
}

#endif
