#include "pool/renewal.h"

#include "actor/restart.h"
#include "pool/pool.h"

/* --- from outside --------------------------------------------------------------------------- */

static void tell_locked(struct place *place, enum renewal renewal, struct executor *executor)
{
    place->renewal = (uint8_t)renewal;
    (void)actor_signal(place->actor, actor_serial_of(actor_pid(place->actor)), executor,
                       SIGNAL_ANEW);
}

uint32_t renewal_ask(struct pool *pool, struct executor *executor)
{
    uint32_t count = 0;

    pthread_mutex_lock(&pool->lock);
    for (struct list *node = pool->places.next; node != &pool->places; node = node->next) {
        tell_locked(LIST_ENTRY(node, struct place, link), RENEWAL_ASKED, executor);
        count++;
    }
    for (uint32_t i = 0; i < pool->child_count; i++)
        count += renewal_ask(pool->children[i], executor);
    pthread_mutex_unlock(&pool->lock);
    return count;
}

void renewal_count(struct pool *pool, struct renewal_counts *sum)
{
    pthread_mutex_lock(&pool->lock);
    for (struct list *node = pool->places.next; node != &pool->places; node = node->next) {
        enum renewal renewal = (enum renewal)LIST_ENTRY(node, struct place, link)->renewal;

        sum->asked += renewal == RENEWAL_ASKED;
        sum->begun += renewal == RENEWAL_BEGUN;
        sum->failed += renewal == RENEWAL_FAILED;
    }
    for (uint32_t i = 0; i < pool->child_count; i++)
        renewal_count(pool->children[i], sum);
    pthread_mutex_unlock(&pool->lock);
}

uint32_t renewal_take_back(struct pool *pool, struct executor *executor)
{
    uint32_t count = 0;

    pthread_mutex_lock(&pool->lock);
    for (struct list *node = pool->places.next; node != &pool->places; node = node->next) {
        struct place *place = LIST_ENTRY(node, struct place, link);

        if (place->renewal != RENEWAL_ASKED)
            continue;
        tell_locked(place, RENEWAL_NONE, executor);
        count++;
    }
    for (uint32_t i = 0; i < pool->child_count; i++)
        count += renewal_take_back(pool->children[i], executor);
    pthread_mutex_unlock(&pool->lock);
    return count;
}

/* --- the worker ----------------------------------------------------------------------------- */

void renewal_obey(struct actor *actor)
{
    struct pool *pool = pool_of_place(actor->place);
    bool asked;

    pthread_mutex_lock(&pool->lock);
    asked = actor->place->renewal == RENEWAL_ASKED;
    pthread_mutex_unlock(&pool->lock);
    if (asked)
        actor->flags |= ACTOR_RENEWS;
    else
        actor->flags &= (uint8_t)~ACTOR_RENEWS;
}

/* False: that was taken back, or the worker leaves. */
static bool may_begin(struct place *place)
{
    struct pool *pool = pool_of_place(place);
    bool may;

    pthread_mutex_lock(&pool->lock);
    may = place->renewal == RENEWAL_ASKED && !place->leaving;
    if (may)
        place->renewal = RENEWAL_BEGUN;
    pthread_mutex_unlock(&pool->lock);
    return may;
}

bool renewal_step(struct actor *actor)
{
    if (actor_state(actor) == ACTOR_OPEN && actor->kept.count > 0 && !actor->leaving)
        return false;
    actor->flags &= (uint8_t)~ACTOR_RENEWS;
    if (may_begin(actor->place))
        restart_renew(actor);
    return true;
}

void renewal_opened_locked(struct place *place)
{
    if (place->renewal == RENEWAL_BEGUN || place->renewal == RENEWAL_FAILED)
        place->renewal = RENEWAL_NONE;
}

void renewal_broken_locked(struct place *place)
{
    if (place->renewal == RENEWAL_BEGUN)
        place->renewal = RENEWAL_FAILED;
}
