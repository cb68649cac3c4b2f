/* SPDX-License-Identifier: MIT */
/*
 * dispatch/global_queue.h - the run queue that all threads of a dispatcher share.
 *
 * Unbounded, first in first out, behind a mutex that is held for a few instructions: it takes work
 * from outside threads, from other dispatchers and from full rings. `count` shows without the lock
 * that it is empty. Any thread, any operation.
 */
#ifndef DISPATCH_GLOBAL_QUEUE_H
#define DISPATCH_GLOBAL_QUEUE_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/lock.h"

struct ring;
struct schedulable;

struct global_queue {
    struct lock lock;
    struct schedulable *first; /* lock */
    struct schedulable *last;  /* lock */
    _Atomic uint32_t count;    /* written under lock, read by all */
};

void global_queue_init(struct global_queue *queue);
void global_queue_finish(struct global_queue *queue);

void global_queue_push(struct global_queue *queue, struct schedulable *schedulable);

/*
 * Takes one, and moves up to `extra` more into the calling thread's `ring` (NULL: none). NULL when
 * the queue is empty.
 */
struct schedulable *global_queue_take(struct global_queue *queue, struct ring *ring,
                                      uint32_t extra);

/* Its length. seq_cst: see executor_park. */
uint32_t global_queue_count(struct global_queue *queue);

#endif
