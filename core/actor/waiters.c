#include "actor/waiters.h"

void waiters_init(struct waiters *waiters)
{
    pthread_mutex_init(&waiters->lock, NULL);
    list_init(&waiters->list);
    waiters->dissolved = false;
    atomic_init(&waiters->count, 0);
}

void waiters_finish(struct waiters *waiters)
{
    pthread_mutex_destroy(&waiters->lock);
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

static struct waiters *waited_for(struct waiter *waiter)
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

void waiters_join(struct waiters *waiters, struct waiter *waiter, uint32_t wants,
                  struct executor *executor)
{
    if (waited_for(waiter) != waiters)
        waiters_leave(waiter, executor);
    pthread_mutex_lock(&waiters->lock);
    if (waiters->dissolved) {
        waiter->wake(waiter, executor);
    } else if (!waited_for(waiter)) {
        list_append(&waiters->list, &waiter->link);
        atomic_store_explicit(&waiter->waits_for, waiters, memory_order_release);
        atomic_fetch_add_explicit(&waiters->count, 1, memory_order_seq_cst);
    }
    waiter->wants = wants;
    grant_locked(waiter, 0);
    pthread_mutex_unlock(&waiters->lock);
}

static void leave_locked(struct waiters *waiters, struct waiter *waiter)
{
    list_remove(&waiter->link);
    grant_locked(waiter, 0);
    atomic_fetch_sub_explicit(&waiters->count, 1, memory_order_seq_cst);
    /* Last: a thread that sees it without the lock may free the waiter. */
    atomic_store_explicit(&waiter->waits_for, NULL, memory_order_release);
}

void waiters_use(struct waiter *waiter, uint32_t places)
{
    /* It still exists: a pool is freed a grace period after its waiters were dissolved. */
    struct waiters *waiters = waited_for(waiter);
    uint32_t granted = granted_to(waiter);

    /* A thread that grants places at the same time also wakes the waiter, which checks again. */
    if (!waiters || granted == 0)
        return;
    pthread_mutex_lock(&waiters->lock);
    granted = granted_to(waiter);
    if (waited_for(waiter) == waiters)
        grant_locked(waiter, granted > places ? granted - places : 0);
    pthread_mutex_unlock(&waiters->lock);
}

void waiters_leave(struct waiter *waiter, struct executor *executor)
{
    struct waiters *waiters = waited_for(waiter);
    uint32_t unused = 0;

    if (!waiters)
        return;
    pthread_mutex_lock(&waiters->lock);
    if (waited_for(waiter) == waiters) {
        unused = granted_to(waiter);
        leave_locked(waiters, waiter);
    }
    pthread_mutex_unlock(&waiters->lock);
    /* The granted places are still free: its messages went elsewhere or were dropped. */
    if (unused)
        waiters_wake(waiters, unused, executor);
}

void waiters_dissolve(struct waiters *waiters, struct executor *executor)
{
    pthread_mutex_lock(&waiters->lock);
    waiters->dissolved = true;
    while (!list_empty(&waiters->list)) {
        struct waiter *waiter = LIST_ENTRY(waiters->list.next, struct waiter, link);

        waiter->wake(waiter, executor);
        leave_locked(waiters, waiter);
    }
    pthread_mutex_unlock(&waiters->lock);
}

void waiters_wake(struct waiters *waiters, uint32_t places, struct executor *executor)
{
    pthread_mutex_lock(&waiters->lock);
    for (struct list *node = waiters->list.next; node != &waiters->list && places > 0;
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
    pthread_mutex_unlock(&waiters->lock);
}
