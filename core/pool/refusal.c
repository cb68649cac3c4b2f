#include "pool/refusal.h"

#include "actor/actor.h"
#include "pool/broadcast.h"
#include "pool/pool.h"
#include "pool/route.h"

/* Why somebody refuses; as statuses, which are negative or 0, besides. */
enum cause {
    CAUSE_CLOSING = 1,
    CAUSE_PAUSED,
    CAUSE_KNOWN, /* by fullness.h */
    CAUSE_NOBODY,
};

/* What was seen at one look at all. */
struct look {
    uint64_t taken; /* what has left the mailboxes: a sum of what only grows */
    uint64_t why;   /* who was looked at, and why each refused */
};

static void note(struct look *look, uint64_t what)
{
    look->why = (look->why ^ what) * 0x9e3779b97f4a7c15ull;
}

static bool refuses_as_pool(struct look *look, struct pool *pool, const struct message *message);

static bool refuses_as_worker(struct look *look, const struct member *member,
                              const struct message *message)
{
    uint64_t taken;
    int status = mailbox_look(&member->actor->mailbox, member->serial, message->public.size,
                              &taken);

    look->taken += taken;
    note(look, (uint64_t)status);
    return status != 0;
}

static bool refuses(struct look *look, const struct member *member, const struct message *message)
{
    if (member->pool)
        return refuses_as_pool(look, member->pool, message);
    return refuses_as_worker(look, member, message);
}

static bool all_refuse(struct look *look, const struct members *members,
                       const struct message *message)
{
    for (uint32_t i = 0; i < members->count; i++)
        if (!refuses(look, &members->members[i], message))
            return false;
    return true;
}

/* One is enough, and only that one counts: first who refused last. */
static bool one_refuses(struct look *look, struct pool *pool, const struct members *members,
                        const struct message *message)
{
    struct route_choice all = { atomic_load_explicit(&pool->refuser, memory_order_relaxed),
                                members->count };
    uint32_t asked = 0;

    if (all.first >= all.count)
        all.first = 0;
    for (uint32_t i = 0; i < all.count; i++) {
        const struct member *member = route_chosen(members, all, i);
        struct look with = *look;

        if (broadcast_passes_over(member))
            continue;
        asked++;
        if (!refuses(&with, member, message))
            continue;
        *look = with;
        note(look, (uintptr_t)member);
        return true;
    }
    note(look, CAUSE_NOBODY);
    return asked == 0;
}

static bool owner_refuses(struct look *look, const struct pool *pool, const struct members *members,
                          const struct message *message)
{
    if (members->count == 0 || message->public.key == 0)
        return true;
    return refuses(look, &members->members[route_owner(pool, members, message->public.key)],
                   message);
}

static bool queue_refuses(struct look *look, struct pool *pool, const struct message *message)
{
    uint64_t taken;
    int status = pulling_look(pool, message->public.size, &taken);

    look->taken += taken;
    note(look, (uint64_t)status);
    return status != 0;
}

static bool refuses_as_routed(struct look *look, struct pool *pool, const struct message *message)
{
    /* [P1] pairs with members_publish. Relaxed: as in route.c, any route will do. */
    const struct members *members = atomic_load_explicit(&pool->members, memory_order_acquire);
    uint32_t route = atomic_load_explicit(&pool->route, memory_order_relaxed);

    note(look, (uintptr_t)members);
    note(look, route);
    switch (route) {
    case ROUTE_PULL:
        return queue_refuses(look, pool, message);
    case ROUTE_BROADCAST:
        return one_refuses(look, pool, members, message);
    case ROUTE_HASH:
        return owner_refuses(look, pool, members, message);
    default:
        return all_refuse(look, members, message);
    }
}

/* Depth is bounded by the configuration. */
static bool refuses_as_pool(struct look *look, struct pool *pool, const struct message *message)
{
    /* It counts what makes room: a pause that ended, who opened, a limit that was raised. */
    note(look, atomic_load_explicit(&pool->fullness.word, memory_order_seq_cst));
    if (fullness_refuses(pool, message->public.size)) {
        note(look, CAUSE_KNOWN);
        return true;
    }
    if (atomic_load_explicit(&pool->closing, memory_order_acquire)) {
        note(look, CAUSE_CLOSING);
        return true;
    }
    if (atomic_load_explicit(&pool->paused, memory_order_acquire)) {
        note(look, CAUSE_PAUSED);
        return true;
    }
    return refuses_as_routed(look, pool, message);
}

/* By one worker: who was full when it said so. */
static bool is_decided_by_one(struct pool *pool)
{
    const struct members *members = atomic_load_explicit(&pool->members, memory_order_acquire);
    uint32_t route = atomic_load_explicit(&pool->route, memory_order_relaxed);

    if (route == ROUTE_PULL)
        return true;
    if (members->count == 0 || members->members[0].pool) /* then all of them are pools */
        return false;
    return members->count == 1 || route == ROUTE_HASH || route == ROUTE_BROADCAST;
}

bool refusal_stands(struct pool *pool, const struct message *message)
{
    struct look first = { 0, 0 };
    struct look second = { 0, 0 };

    /* Who began before it was closed, and found it paused after, say, or without members. */
    if (atomic_load_explicit(&pool->closing, memory_order_acquire))
        return false;
    if (is_decided_by_one(pool) || fullness_refuses(pool, message->public.size))
        return true;
    /*
     * Acquire in both, and in this order: whoever had a place to give before another one was seen
     * to be taken is seen to have given it.
     */
    return refuses_as_pool(&first, pool, message) && refuses_as_pool(&second, pool, message) &&
           first.taken == second.taken && first.why == second.why &&
           !atomic_load_explicit(&pool->closing, memory_order_acquire);
}
