#include "pool/places.h"

#include "actor/children.h"
#include "actor/extra.h"
#include "actor/runtime.h"
#include "pool/outcome.h"
#include "pool/renewal.h"
#include "pool/resize.h"

void pool_wake_waiters(struct pool *pool, struct executor *executor)
{
    fullness_forget(pool);
    for (; pool; pool = pool->parent)
        if (waiters_any(&pool->waiters))
            waiters_wake(&pool->waiters, UINT32_MAX, executor);
}

void pool_place_publish_locked(struct pool *pool, struct place *place)
{
    if (place->has_names)
        names_publish(&pool->runtime->names, actor_pid(place->actor));
}

void pool_place_opened(struct pool *pool, struct place *place)
{
    const struct extra *extra = place->actor->extra;
    bool let_in;

    pthread_mutex_lock(&pool->lock);
    place->opened = true;
    renewal_opened_locked(place);
    place->has_names = extra && extra->has_names;
    let_in = !place->leaving && !place->prepared;
    if (let_in)
        mailbox_open(&place->actor->mailbox);
    /* Also of one that drains: it has its names for as long as it lives. */
    if (!place->prepared)
        pool_place_publish_locked(pool, place);
    pthread_mutex_unlock(&pool->lock);
    if (let_in)
        pool_wake_waiters(pool, place->actor->executor);
    outcome_tell(pool, place->actor->executor);
}

void pool_place_broken(struct pool *pool, struct place *place)
{
    pthread_mutex_lock(&pool->lock);
    place->opened = false;
    renewal_broken_locked(place);
    mailbox_close(&place->actor->mailbox);
    pulling_awake(place);
    pthread_mutex_unlock(&pool->lock);
    outcome_tell(pool, place->actor->executor);
}

bool pool_place_is_leaving(struct pool *pool, struct place *place, uint64_t *out_due_ns)
{
    bool leaving;

    pthread_mutex_lock(&pool->lock);
    leaving = place->leaving;
    if (out_due_ns)
        *out_due_ns = place->told_due_ns;
    pthread_mutex_unlock(&pool->lock);
    return leaving;
}

struct spec *pool_place_take_respec(struct pool *pool, struct place *place)
{
    struct spec *spec;

    pthread_mutex_lock(&pool->lock);
    spec = place->respec;
    place->respec = NULL;
    pthread_mutex_unlock(&pool->lock);
    return spec;
}

bool pool_place_may_close(struct pool *pool, struct place *place, bool leaves_queue)
{
    bool may;

    pthread_mutex_lock(&pool->lock);
    /* Under the lock: called back, sent to and told to go again, it has something to finish; and
     * so has one that stayed meanwhile, when the pool has closed since it looked at the queue. */
    may = place->leaving && mailbox_empty(&place->actor->mailbox) &&
          (leaves_queue || !pulling_keeps(place->actor));
    if (may) {
        list_remove(&place->link);
        list_append(&pool->closers, &place->link);
    }
    pthread_mutex_unlock(&pool->lock);
    return may;
}

void pool_place_ended(struct pool *pool, struct place *place, struct executor *executor)
{
    struct ledger_reading reading;

    pulling_awake(place);
    pthread_mutex_lock(&pool->lock);
    ledger_read(&place->actor->ledger, &place->actor->mailbox, &reading);
    children_add_ledger(place, &reading);
    ledger_reading_add(&pool->gone, &reading);
    pool->gone_retried += atomic_load_explicit(&place->retried, memory_order_relaxed);
    pool->gone_restarts += atomic_load_explicit(&place->restarts, memory_order_relaxed);
    progress_add_place(&pool->gone_progress, place);
    list_remove(&place->link);
    outlet_leave_locked(place, executor);
    pthread_mutex_unlock(&pool->lock);
    pulling_pass_on(pool, executor);
    pulling_end_if_left(pool, executor);
    pool_end_if_empty(pool, executor);
}
