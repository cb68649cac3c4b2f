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
    waiter->woken = false;
    waiter->wake = wake;
}

static struct waiters *waited_for(struct waiter *waiter)
{
    return atomic_load_explicit(&waiter->waits_for, memory_order_acquire);
}

void waiters_join(struct waiters *waiters, struct waiter *waiter, struct executor *executor)
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
    waiter->woken = false;
    pthread_mutex_unlock(&waiters->lock);
}

static void leave_locked(struct waiters *waiters, struct waiter *waiter)
{
    list_remove(&waiter->link);
    waiter->woken = false;
    atomic_fetch_sub_explicit(&waiters->count, 1, memory_order_seq_cst);
    /* Last: whoever sees it without the lock may go away. */
    atomic_store_explicit(&waiter->waits_for, NULL, memory_order_release);
}

void waiters_use(struct waiter *waiter)
{
    /* Still there: a pool is freed a grace period after its waiters were dissolved. */
    struct waiters *waiters = waited_for(waiter);

    if (!waiters)
        return;
    pthread_mutex_lock(&waiters->lock);
    if (waited_for(waiter) == waiters)
        waiter->woken = false;
    pthread_mutex_unlock(&waiters->lock);
}

void waiters_leave(struct waiter *waiter, struct executor *executor)
{
    struct waiters *waiters = waited_for(waiter);
    bool woken = false;

    if (!waiters)
        return;
    pthread_mutex_lock(&waiters->lock);
    if (waited_for(waiter) == waiters) {
        woken = waiter->woken;
        leave_locked(waiters, waiter);
    }
    pthread_mutex_unlock(&waiters->lock);
    /* The place that it was woken for is free still: it went elsewhere, or nowhere. */
    if (woken)
        waiters_wake(waiters, 1, executor);
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

void waiters_wake(struct waiters *waiters, uint32_t max, struct executor *executor)
{
    pthread_mutex_lock(&waiters->lock);
    for (struct list *node = waiters->list.next; node != &waiters->list && max > 0;
         node = node->next) {
        struct waiter *waiter = LIST_ENTRY(node, struct waiter, link);

        if (waiter->woken)
            continue;
        waiter->woken = true;
        max--;
        waiter->wake(waiter, executor);
    }
    pthread_mutex_unlock(&waiters->lock);
}
