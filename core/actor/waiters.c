#include "actor/waiters.h"

#include "actor/place.h"

void waiters_init(struct waiters *waiters)
{
    pthread_mutex_init(&waiters->lock, NULL);
    list_init(&waiters->list);
    atomic_init(&waiters->count, 0);
}

void waiters_finish(struct waiters *waiters)
{
    pthread_mutex_destroy(&waiters->lock);
}

static struct waiters *waited_for(struct place *place)
{
    return atomic_load_explicit(&place->waits_for, memory_order_acquire);
}

void waiters_join(struct waiters *waiters, struct place *place)
{
    if (waited_for(place) != waiters)
        waiters_leave(place);
    pthread_mutex_lock(&waiters->lock);
    if (!waited_for(place)) {
        list_append(&waiters->list, &place->waiting);
        atomic_store_explicit(&place->waits_for, waiters, memory_order_release);
        atomic_fetch_add_explicit(&waiters->count, 1, memory_order_seq_cst);
    }
    place->woken = false;
    pthread_mutex_unlock(&waiters->lock);
}

static void leave_locked(struct waiters *waiters, struct place *place)
{
    list_remove(&place->waiting);
    place->woken = false;
    atomic_store_explicit(&place->waits_for, NULL, memory_order_release);
    atomic_fetch_sub_explicit(&waiters->count, 1, memory_order_seq_cst);
}

void waiters_use(struct place *place)
{
    /* Still there: a pool is freed a grace period after its waiters were dissolved. */
    struct waiters *waiters = waited_for(place);

    if (!waiters)
        return;
    pthread_mutex_lock(&waiters->lock);
    if (waited_for(place) == waiters)
        place->woken = false;
    pthread_mutex_unlock(&waiters->lock);
}

void waiters_leave(struct place *place)
{
    struct waiters *waiters = waited_for(place);
    bool woken = false;

    if (!waiters)
        return;
    pthread_mutex_lock(&waiters->lock);
    if (waited_for(place) == waiters) {
        woken = place->woken;
        leave_locked(waiters, place);
    }
    pthread_mutex_unlock(&waiters->lock);
    /* The place that it was woken for is free still: it went elsewhere, or nowhere. */
    if (woken)
        waiters_wake(waiters, 1, place->actor->executor);
}

void waiters_dissolve(struct waiters *waiters, struct executor *executor)
{
    pthread_mutex_lock(&waiters->lock);
    while (!list_empty(&waiters->list)) {
        struct place *place = LIST_ENTRY(waiters->list.next, struct place, waiting);

        leave_locked(waiters, place);
        (void)actor_signal(place->actor, actor_serial_of(actor_pid(place->actor)), executor,
                           SIGNAL_ROOM);
    }
    pthread_mutex_unlock(&waiters->lock);
}

void waiters_wake(struct waiters *waiters, uint32_t max, struct executor *executor)
{
    pthread_mutex_lock(&waiters->lock);
    for (struct list *node = waiters->list.next; node != &waiters->list && max > 0;
         node = node->next) {
        struct place *place = LIST_ENTRY(node, struct place, waiting);

        if (place->woken)
            continue;
        place->woken = true;
        max--;
        /* Under the lock: the place cannot leave and end meanwhile. */
        (void)actor_signal(place->actor, actor_serial_of(actor_pid(place->actor)), executor,
                           SIGNAL_ROOM);
    }
    pthread_mutex_unlock(&waiters->lock);
}
