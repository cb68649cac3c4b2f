#include "actor/freed.h"

#include "actor/place.h"
#include "actor/room.h"
#include "pool/pool.h"

/* How many of the places freed in this turn are still free: waking more waiters than can be served
 * lets a later one overtake. Who took the others is popped in its turn, which wakes the next. */
static uint32_t still_free(struct actor *actor, uint32_t places)
{
    uint32_t limit = atomic_load_explicit(&actor->mailbox.limit, memory_order_relaxed);
    uint32_t waiting = mailbox_waiting(&actor->mailbox);

    if (limit == 0)
        return places;
    if (waiting >= limit)
        return 0;
    return limit - waiting < places ? limit - waiting : places;
}

/* All that were freed in this turn and are free still. */
static uint32_t all_free(const struct freed *freed, struct actor *actor, struct pool *pool)
{
    uint32_t places = freed->places ? still_free(actor, freed->places) : 0;
    uint64_t room = freed->pulled ? pulling_room(pool) : 0;

    return places + (uint32_t)(room < freed->pulled ? room : freed->pulled);
}

/* seq_cst as waiters.h asks for: after the read-modify-write that ended the turn. */
static bool is_waited_for(struct actor *actor, struct pool *pool)
{
    if (atomic_load_explicit(&actor->room, memory_order_seq_cst))
        return true;
    for (; pool; pool = pool->parent)
        if (waiters_any(&pool->waiters))
            return true;
    return false;
}

void freed_tell(struct freed *freed, struct actor *actor, struct owner *owner,
                struct executor *executor)
{
    struct pool *pool = owner ? pool_of_owner(owner) : NULL;
    uint32_t places;

    /* First the marks: who joins those who wait looks for a mark after that. */
    fullness_tell(pool);
    if (!is_waited_for(actor, pool)) {
        *freed = (struct freed){ 0 };
        return;
    }
    places = all_free(freed, actor, pool);
    *freed = (struct freed){ 0 };
    room_wake(actor, places, executor);
    for (; pool; pool = pool->parent) {
        /* By key: the place may be of use to any of them, not to the first. */
        if (atomic_load_explicit(&pool->route, memory_order_relaxed) == ROUTE_HASH)
            places = UINT32_MAX;
        if (waiters_any(&pool->waiters))
            waiters_wake(&pool->waiters, places, executor);
    }
}

void freed_unmark(const struct freed *freed, struct actor *actor)
{
    struct pool *pool = pool_of_worker(actor);

    if (!freed_any(freed) || !fullness_is_watched(pool))
        return;
    (void)atomic_fetch_or_explicit(&actor->mailbox.word, 0, memory_order_seq_cst);
    fullness_tell(pool);
}

void freed_tell_now(struct freed *freed, struct actor *actor)
{
    if (!freed_any(freed))
        return;
    (void)atomic_fetch_or_explicit(&actor->mailbox.word, 0, memory_order_seq_cst);
    freed_tell(freed, actor, place_member_of(actor), actor->executor);
}
