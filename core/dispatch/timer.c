/* SPDX-License-Identifier: MIT */
#include "dispatch/timer.h"

#include <stdlib.h>

#include <weir/status.h>

void timers_init(struct timers *timers)
{
    *timers = (struct timers){ 0 };
    lock_init(&timers->lock, LOCK_TIMERS);
    atomic_init(&timers->next_due_ns, TIMER_NEVER);
}

void timers_finish(struct timers *timers)
{
    free(timers->heap);
    lock_finish(&timers->lock);
}

int timers_reserve(struct timers *timers)
{
    int status = 0;

    lock_acquire(&timers->lock);
    if (timers->reserved == timers->capacity) {
        uint32_t capacity = timers->capacity ? timers->capacity * 2 : 64;
        struct timer **heap = realloc(timers->heap, capacity * sizeof *heap);

        if (heap) {
            timers->heap = heap;
            timers->capacity = capacity;
        } else {
            status = WEIR_ENOMEM;
        }
    }
    if (status == 0)
        timers->reserved++;
    lock_release(&timers->lock);
    return status;
}

void timers_release(struct timers *timers)
{
    lock_acquire(&timers->lock);
    timers->reserved--;
    lock_release(&timers->lock);
}

static void put(struct timers *timers, uint32_t index, struct timer *timer)
{
    timers->heap[index] = timer;
    timer->place = index + 1;
}

static void sift_up(struct timers *timers, uint32_t index)
{
    struct timer *timer = timers->heap[index];

    while (index > 0) {
        uint32_t parent = (index - 1) / 2;

        if (timers->heap[parent]->due_ns <= timer->due_ns)
            break;
        put(timers, index, timers->heap[parent]);
        index = parent;
    }
    put(timers, index, timer);
}

static void sift_down(struct timers *timers, uint32_t index)
{
    struct timer *timer = timers->heap[index];

    for (;;) {
        uint32_t child = 2 * index + 1;

        if (child >= timers->count)
            break;
        if (child + 1 < timers->count &&
            timers->heap[child + 1]->due_ns < timers->heap[child]->due_ns)
            child++;
        if (timer->due_ns <= timers->heap[child]->due_ns)
            break;
        put(timers, index, timers->heap[child]);
        index = child;
    }
    put(timers, index, timer);
}

static void remove_locked(struct timers *timers, struct timer *timer)
{
    uint32_t index = timer->place - 1;
    struct timer *last = timers->heap[--timers->count];

    timer->place = 0;
    if (last == timer)
        return;
    put(timers, index, last);
    sift_up(timers, index);
    sift_down(timers, last->place - 1);
}

static void publish_locked(struct timers *timers)
{
    uint64_t due = timers->count ? timers->heap[0]->due_ns : TIMER_NEVER;

    /* [T1] seq_cst: an arming thread reads next until when the keeper sleeps; the keeper writes
     * that and reads this: one of them sees the other. */
    atomic_store_explicit(&timers->next_due_ns, due, memory_order_seq_cst);
}

bool timers_arm(struct timers *timers, struct timer *timer, uint64_t due_ns)
{
    bool first;

    lock_acquire(&timers->lock);
    if (timer->place)
        remove_locked(timers, timer);
    timer->due_ns = due_ns;
    put(timers, timers->count, timer);
    sift_up(timers, timers->count++);
    first = timer->place == 1;
    publish_locked(timers);
    lock_release(&timers->lock);
    return first;
}

void timers_disarm(struct timers *timers, struct timer *timer)
{
    lock_acquire(&timers->lock);
    if (timer->place) {
        remove_locked(timers, timer);
        publish_locked(timers);
    }
    lock_release(&timers->lock);
}

static bool is_due_locked(const struct timers *timers, uint64_t now_ns)
{
    return timers->count && timers->heap[0]->due_ns <= now_ns;
}

bool timers_expire(struct timers *timers, uint64_t now_ns, struct executor *executor)
{
    bool more;

    /* Relaxed: a deadline missed now is seen at the next check. */
    if (atomic_load_explicit(&timers->next_due_ns, memory_order_relaxed) > now_ns)
        return false;
    lock_acquire(&timers->lock);
    for (uint32_t i = 0; i < TIMERS_AT_ONCE && is_due_locked(timers, now_ns); i++) {
        struct timer *timer = timers->heap[0];

        remove_locked(timers, timer);
        timer->fire(timer, executor);
    }
    more = is_due_locked(timers, now_ns);
    publish_locked(timers);
    lock_release(&timers->lock);
    return more;
}
