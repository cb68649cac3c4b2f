#include "pool/lease_group.h"

#include "pool/elastic.h"
#include "pool/pulling.h"

bool lease_group_takes(const struct pool *pool, const struct message *message)
{
    /* Relaxed: the members, which the caller has read before, are of the same time or earlier. */
    return (message->public.reserved & MESSAGE_TAKE) && leases_are_given(&pool->leases) &&
           atomic_load_explicit(&pool->route, memory_order_relaxed) != WEIR_ROUTE_PULL;
}

static uint32_t free_in(const struct member *member)
{
    /* Relaxed: a hint about which pool to try first. */
    return member->pool ? atomic_load_explicit(&member->pool->pull.sleeping, memory_order_relaxed)
                        : 0;
}

/* The member with the most free workers; the first of those that have as many. */
static uint32_t with_most_free(const struct members *members)
{
    uint32_t best = 0;

    for (uint32_t i = 1; i < members->count; i++)
        if (free_in(&members->members[i]) > free_in(&members->members[best]))
            best = i;
    return best;
}

/* Wakes a worker: of the pool with the number `first`, or, if that has no free one or does not
 * exist, of the one with most free workers. The lock of the group's queue is held. */
static bool wake_one_locked(struct pool *group, struct executor *executor, uint32_t first)
{
    /* [P1] pairs with members_publish. */
    const struct members *members = atomic_load_explicit(&group->members, memory_order_acquire);

    if (members->count == 0)
        return false;
    if (first >= members->count || free_in(&members->members[first]) == 0)
        first = with_most_free(members);
    for (uint32_t i = 0; i < members->count; i++) {
        struct pool *pool = members->members[(first + i) % members->count].pool;

        if (pool && pulling_wake_for(pool, &group->pull, executor))
            return true;
    }
    return false;
}

/* A taker for whom a worker was woken does not count as waiting. */
static bool has_room_locked(const struct pull_queue *pull)
{
    uint64_t called = atomic_load_explicit(&pull->called, memory_order_relaxed);

    return pull->messages.count < pull->limit + called;
}

int lease_group_push(struct pool *group, struct executor *executor, struct message *take,
                     uint32_t first)
{
    struct pull_queue *pull = &group->pull;
    bool woke = false;
    int status = 0;

    pthread_mutex_lock(&pull->lock);
    if (pull->closed)
        status = WEIR_ECLOSED;
    else if (!(woke = wake_one_locked(group, executor, first)) && !has_room_locked(pull))
        status = WEIR_EFULL;
    if (status == 0) {
        take->public.reserved |= MESSAGE_GROUPED;
        pulling_append_locked(group, executor, take);
    }
    pthread_mutex_unlock(&pull->lock);
    if (!woke) /* pools that scale themselves grow for it */
        elastic_starve(group, executor);
    return status;
}

void lease_group_put_back(struct place *place, struct message *message)
{
    struct pool *group = lease_group_of(pool_of_place(place));

    if (!group || !(message->public.reserved & MESSAGE_GROUPED)) {
        pulling_put_back(place, message);
        return;
    }
    pthread_mutex_lock(&group->pull.lock);
    (void)wake_one_locked(group, place->actor->executor, LEASE_GROUP_MOST_FREE);
    pulling_prepend_locked(group, message);
    pthread_mutex_unlock(&group->pull.lock);
}

void lease_group_wake(struct pool *group, struct executor *executor)
{
    struct pull_queue *pull = &group->pull;

    /* Relaxed: as in pulling_pass_on. */
    if (atomic_load_explicit(&group->owner.waiting, memory_order_relaxed) == 0)
        return;
    pthread_mutex_lock(&pull->lock);
    if (pull->messages.count > atomic_load_explicit(&pull->called, memory_order_relaxed))
        (void)wake_one_locked(group, executor, LEASE_GROUP_MOST_FREE);
    pthread_mutex_unlock(&pull->lock);
}

void lease_group_pass_on(struct pool *pool, struct executor *executor)
{
    struct pool *group = lease_group_of(pool);

    pulling_pass_on(pool, executor);
    if (group)
        lease_group_wake(group, executor);
}
