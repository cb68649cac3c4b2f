/* SPDX-License-Identifier: MIT */
#include "actor/wait_queue.h"

void wait_queue_init(struct wait_queue *queue)
{
    lock_init(&queue->lock, LOCK_WAIT_QUEUE);
    list_init(&queue->list);
    queue->dissolved = false;
    atomic_init(&queue->count, 0);
}

void wait_queue_finish(struct wait_queue *queue)
{
    lock_finish(&queue->lock);
}

void waiter_init(struct waiter *waiter,
                 void (*wake)(struct waiter *waiter, struct executor *executor))
{
    list_init(&waiter->link);
    atomic_init(&waiter->waits_for, NULL);
    waiter->wants = 1;
    atomic_init(&waiter->granted, 0);
    waiter->wake = wake;
}

static struct wait_queue *waited_for(struct waiter *waiter)
{
    return atomic_load_explicit(&waiter->waits_for, memory_order_acquire);
}

/* Relaxed, as every read of it: it is written under the lock. */
static void grant_locked(struct waiter *waiter, uint32_t places)
{
    atomic_store_explicit(&waiter->granted, places, memory_order_relaxed);
}

static uint32_t granted_to(const struct waiter *waiter)
{
    return atomic_load_explicit(&waiter->granted, memory_order_relaxed);
}

uint32_t wait_queue_granted(const struct waiter *waiter)
{
    return granted_to(waiter);
}

void wait_queue_join(struct wait_queue *queue, struct waiter *waiter, uint32_t wants,
                     struct executor *executor)
{
    if (waited_for(waiter) != queue)
        wait_queue_leave(waiter, executor);
    lock_acquire(&queue->lock);
    if (queue->dissolved) {
        waiter->wake(waiter, executor);
    } else if (!waited_for(waiter)) {
        list_append(&queue->list, &waiter->link);
        atomic_store_explicit(&waiter->waits_for, queue, memory_order_release);
        atomic_fetch_add_explicit(&queue->count, 1, memory_order_seq_cst);
    }
    waiter->wants = wants;
    grant_locked(waiter, 0);
    lock_release(&queue->lock);
}

static void leave_locked(struct wait_queue *queue, struct waiter *waiter)
{
    list_remove(&waiter->link);
    grant_locked(waiter, 0);
    atomic_fetch_sub_explicit(&queue->count, 1, memory_order_seq_cst);
    /* Last: a thread that sees it without the lock may free the waiter. */
    atomic_store_explicit(&waiter->waits_for, NULL, memory_order_release);
}

void wait_queue_use(struct waiter *waiter, uint32_t places)
{
    /* It still exists: a pool is freed a grace period after its waiters were dissolved. */
    struct wait_queue *queue = waited_for(waiter);
    uint32_t granted = granted_to(waiter);

    /* A thread that grants places at the same time also wakes the waiter, which checks again. */
    if (!queue || granted == 0)
        return;
    lock_acquire(&queue->lock);
    granted = granted_to(waiter);
    if (waited_for(waiter) == queue)
        grant_locked(waiter, granted > places ? granted - places : 0);
    lock_release(&queue->lock);
}

void wait_queue_leave(struct waiter *waiter, struct executor *executor)
{
    struct wait_queue *queue = waited_for(waiter);
    uint32_t unused = 0;

    if (!queue)
        return;
    lock_acquire(&queue->lock);
    if (waited_for(waiter) == queue) {
        unused = granted_to(waiter);
        leave_locked(queue, waiter);
    }
    lock_release(&queue->lock);
    /* The granted places are still free: its messages went elsewhere or were dropped. */
    if (unused)
        wait_queue_wake(queue, unused, executor);
}

void wait_queue_dissolve(struct wait_queue *queue, struct executor *executor)
{
    lock_acquire(&queue->lock);
    queue->dissolved = true;
    while (!list_empty(&queue->list)) {
        struct waiter *waiter = LIST_ENTRY(queue->list.next, struct waiter, link);

        waiter->wake(waiter, executor);
        leave_locked(queue, waiter);
    }
    lock_release(&queue->lock);
}

uint64_t wait_queue_wanted(struct wait_queue *queue)
{
    uint64_t wanted = 0;

    lock_acquire(&queue->lock);
    for (struct list *node = queue->list.next; node != &queue->list; node = node->next) {
        const struct waiter *waiter = LIST_ENTRY(node, struct waiter, link);

        if (waiter->wants > granted_to(waiter))
            wanted += waiter->wants - granted_to(waiter);
    }
    lock_release(&queue->lock);
    return wanted;
}

void wait_queue_wake(struct wait_queue *queue, uint32_t places, struct executor *executor)
{
    lock_acquire(&queue->lock);
    for (struct list *node = queue->list.next; node != &queue->list && places > 0;
         node = node->next) {
        struct waiter *waiter = LIST_ENTRY(node, struct waiter, link);
        uint32_t granted = granted_to(waiter);
        uint32_t more = waiter->wants - granted < places ? waiter->wants - granted : places;

        if (more == 0)
            continue;
        grant_locked(waiter, granted + more);
        places -= more;
        /* Otherwise it has been woken, and has not checked yet. */
        if (granted == 0)
            waiter->wake(waiter, executor);
    }
    lock_release(&queue->lock);
}
