/* SPDX-License-Identifier: MIT */
#include "dispatch/global_queue.h"

#include <stddef.h>

#include "dispatch/ring.h"
#include "dispatch/schedulable.h"

void global_queue_init(struct global_queue *queue)
{
    lock_init(&queue->lock, LOCK_GLOBAL_QUEUE);
    queue->first = NULL;
    queue->last = NULL;
    atomic_init(&queue->count, 0);
}

void global_queue_finish(struct global_queue *queue)
{
    lock_finish(&queue->lock);
}

void global_queue_push(struct global_queue *queue, struct schedulable *schedulable)
{
    lock_acquire(&queue->lock);
    schedulable->next = NULL;
    if (queue->last)
        queue->last->next = schedulable;
    else
        queue->first = schedulable;
    queue->last = schedulable;
    atomic_fetch_add_explicit(&queue->count, 1, memory_order_seq_cst);
    lock_release(&queue->lock);
}

static struct schedulable *take_locked(struct global_queue *queue)
{
    struct schedulable *schedulable = queue->first;

    if (!schedulable)
        return NULL;
    queue->first = schedulable->next;
    if (!queue->first)
        queue->last = NULL;
    atomic_fetch_sub_explicit(&queue->count, 1, memory_order_seq_cst);
    return schedulable;
}

static void put_back_locked(struct global_queue *queue, struct schedulable *schedulable)
{
    schedulable->next = queue->first;
    queue->first = schedulable;
    if (!queue->last)
        queue->last = schedulable;
    atomic_fetch_add_explicit(&queue->count, 1, memory_order_seq_cst);
}

struct schedulable *global_queue_take(struct global_queue *queue, struct ring *ring, uint32_t extra)
{
    struct schedulable *taken;

    if (global_queue_count(queue) == 0)
        return NULL;
    lock_acquire(&queue->lock);
    taken = take_locked(queue);
    while (taken && ring && extra-- > 0) {
        struct schedulable *another = take_locked(queue);

        if (!another)
            break;
        if (!ring_push(ring, another)) {
            put_back_locked(queue, another);
            break;
        }
    }
    lock_release(&queue->lock);
    return taken;
}

uint32_t global_queue_count(struct global_queue *queue)
{
    return atomic_load_explicit(&queue->count, memory_order_seq_cst);
}
