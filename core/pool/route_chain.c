/* SPDX-License-Identifier: MIT */
#include "pool/route_chain.h"

#include "actor/deliver.h"
#include "actor/fullness.h"
#include "pool/pool.h"
#include "pool/route.h"
#include "pool/route_ops.h"

struct chain {
    struct message *const *messages;
    uint32_t count; /* at least 1 */
    struct scan scan;
};

static int chain_below(struct pool *pool, struct executor *executor, struct chain *chain);

static int try_worker(const struct member *member, struct executor *executor, struct chain *chain)
{
    int taken = deliver_chain(member->actor, member->serial, executor, chain->messages,
                              chain->count);

    if (taken <= 0)
        fullness_met(&chain->scan, member->actor);
    return taken;
}

static int try_member(const struct member *member, struct executor *executor, struct chain *chain)
{
    return member->pool ? chain_below(member->pool, executor, chain)
                        : try_worker(member, executor, chain);
}

/* Tries members until one takes a part of the chain. WEIR_EINVALID: no member could ever take its
 * first message. */
static int try_all(struct pool *pool, const struct members *members, struct executor *executor,
                   struct chain *chain)
{
    uint32_t start = route_next(pool, executor, members->count);
    int refusal = WEIR_EINVALID;

    for (uint32_t i = 0; i < members->count; i++) {
        int taken = try_member(&members->members[(start + i) % members->count], executor, chain);

        if (taken > 0) {
            route_pass_over(pool, executor, i);
            return taken;
        }
        if (taken != WEIR_EINVALID)
            refusal = WEIR_EFULL;
    }
    return refusal;
}

/* As try_any in route.c. */
static int try_any(struct pool *pool, const struct members *members, uint64_t epoch,
                   struct executor *executor, struct chain *chain)
{
    struct scan above = chain->scan;
    int taken = WEIR_EFULL;

    chain->scan = (struct scan){ 0 };
    if (members->count == 0 || fullness_refuses(&pool->owner.fullness))
        chain->scan.looks = 1;
    else
        taken = try_all(pool, members, executor, chain);
    if (taken == WEIR_EFULL)
        fullness_note(&pool->owner.fullness, epoch, &chain->scan);
    chain->scan.looks += above.looks;
    chain->scan.varies |= above.varies;
    return taken;
}

static int one_by_one(struct pool *pool, struct executor *executor, struct chain *chain)
{
    uint32_t taken = 0;
    int status = 0;

    chain->scan.varies = true; /* each pool below has its own mark */
    while (taken < chain->count && status == 0) {
        status = route_message(pool, executor, chain->messages[taken]);
        taken += status == 0;
    }
    return taken > 0 ? (int)taken : status;
}

/* Where one worker is as good as another for all of it. In an elastic pool each message goes to an
 * idle one. */
static bool goes_whole(const struct pool *pool)
{
    return route_ops_of(pool)->in_turn && !(flags_word(&pool->flags) & FLAGS_FIRST_IDLE);
}

/* As route_chain; a refusal of the whole chain is not counted. */
static int chain_below(struct pool *pool, struct executor *executor, struct chain *chain)
{
    const struct members *members;

    if (!goes_whole(pool))
        return one_by_one(pool, executor, chain);
    do {
        uint64_t epoch = fullness_epoch(&pool->owner.fullness); /* read before all else */
        int taken;

        /* [P1] pairs with members_publish. */
        members = atomic_load_explicit(&pool->members, memory_order_acquire);
        taken = flags_refusal(flags_word(&pool->flags));
        if (taken != 0)
            return taken;
        taken = try_any(pool, members, epoch, executor, chain);
        if (taken != WEIR_EFULL)
            return taken;
        /* As in route.c: the tried members may all have been leaving, or have closed with the pool.
         * */
    } while (members != atomic_load_explicit(&pool->members, memory_order_acquire) ||
             flags_is_closing(&pool->flags));
    return WEIR_EFULL;
}

int route_chain(struct pool *pool, struct executor *executor, struct message *const *messages,
                uint32_t count)
{
    struct chain chain = { .messages = messages, .count = count };
    int taken = chain_below(pool, executor, &chain);

    /* Messages that were routed one by one have been counted already. */
    if (taken < 0 && goes_whole(pool))
        counter_add(&pool->refused, executor->reader.index, 1);
    return taken;
}
