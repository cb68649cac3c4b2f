/* SPDX-License-Identifier: MIT */
#include "pool/rebalance.h"

#include "actor/backlog.h"
#include "actor/credit.h"
#include "actor/deliver.h"
#include "actor/output.h"
#include "actor/settle.h"
#include "pool/pool.h"
#include "pool/route_ops.h"

#define REBALANCE_LOOKS 64u /* members that a worker compares itself with: a cache line each */
#define RELIEF_MAX 512u     /* messages at a time: the callback that ends meanwhile waits */
#define GIVES_ANY (POOL_SIZE_MAX + 1u)
#define ASK_SHARE 16u /* of the size: so opening n workers costs O(n) looks in all */

/* --- requests ------------------------------------------------------------------------------- */

void rebalance_made_locked(struct pool *pool, const struct list *made)
{
    for (const struct list *node = made->next; node != made; node = node->next) {
        LIST_ENTRY(node, struct place, link)->fresh = FRESH_OPENING;
        pool->rebalancing.opening++;
    }
}

/* `from`: the index of the first member that it compares itself with; or GIVES_ANY. A member that
 * still has another request compares itself with any. */
static void ask(struct place *place, uint32_t from, struct executor *executor)
{
    uint32_t before = atomic_load_explicit(&place->gives, memory_order_relaxed);

    if (mailbox_waiting(&place->actor->mailbox) == 0)
        return;
    if (before != 0 && before != from + 1)
        from = GIVES_ANY;
    /* Relaxed: published by the signal. */
    atomic_store_explicit(&place->gives, from + 1, memory_order_relaxed);
    (void)actor_signal(place->actor, actor_serial_of(actor_pid(place->actor)), executor,
                       SIGNAL_WORK);
}

bool rebalance_shares(const struct pool *pool)
{
    const struct route_ops *ops = route_ops_of(pool);

    return route_takes_any(ops) && !ops->pulls;
}

void rebalance_ask_locked(struct pool *pool, struct executor *executor)
{
    pool->rebalancing.opened = 0;
    if (!rebalance_shares(pool))
        return;
    for (struct list *node = pool->places.next; node != &pool->places; node = node->next)
        ask(LIST_ENTRY(node, struct place, link), GIVES_ANY, executor);
}

/* Asks some members, at equal distances from one that is drawn, to compare themselves with the new
 * one and those after it. */
static void ask_for_one_locked(struct pool *pool, const struct members *members, uint32_t at,
                               struct executor *executor)
{
    uint64_t drawn = executor_random(executor) % members->count;

    if (!rebalance_shares(pool))
        return;
    for (uint64_t i = 0; i < REBALANCE_LOOKS; i++) {
        uint64_t asked = (drawn + i * members->count / REBALANCE_LOOKS) % members->count;

        ask(members->members[asked].actor->place, at, executor);
    }
}

void rebalance_recalled_locked(struct pool *pool, struct place *place)
{
    if (place->fresh != FRESH_OPENING)
        pool->rebalancing.opening++;
    place->fresh = FRESH_OPENING;
}

/* The first open of a fresh place has ended, or the place leaves. The last fresh place asks the
 * other workers for the share of all that have opened. */
static void end_first_open_locked(struct pool *pool, struct place *place, enum place_fresh next,
                                  struct executor *executor)
{
    if (place->fresh == FRESH_OPENING)
        pool->rebalancing.opening--;
    place->fresh = (uint8_t)next;
    if (pool->rebalancing.opening == 0 && pool->rebalancing.opened > 0)
        rebalance_ask_locked(pool, executor);
}

/* While few places open, a large pool asks for each by itself: to ask all its workers would cost as
 * much for one new worker as for many. */
static bool opens_alone_locked(const struct pool *pool, const struct members *members,
                               const struct place *place)
{
    return members->is_dense && place->index < members->count &&
           members->count > REBALANCE_LOOKS * pool->rebalancing.opening;
}

void rebalance_opened_locked(struct pool *pool, struct place *place, struct executor *executor)
{
    /* Relaxed: written under the lock. */
    const struct members *members = atomic_load_explicit(&pool->members, memory_order_relaxed);

    if (place->fresh == FRESH_NOT)
        return;
    if (opens_alone_locked(pool, members, place)) {
        ask_for_one_locked(pool, members, place->index, executor);
        end_first_open_locked(pool, place, FRESH_NOT, executor);
        return;
    }
    pool->rebalancing.opened++;
    end_first_open_locked(pool, place, FRESH_NOT, executor);
    if (pool->rebalancing.opened > 0 && pool->rebalancing.opened >= pool->target / ASK_SHARE)
        rebalance_ask_locked(pool, executor);
}

void rebalance_failed_locked(struct pool *pool, struct place *place)
{
    if (place->fresh != FRESH_NOT)
        end_first_open_locked(pool, place, FRESH_FAILED, place->actor->executor);
}

void rebalance_left_locked(struct pool *pool, struct place *place, struct executor *executor)
{
    end_first_open_locked(pool, place, FRESH_NOT, executor);
}

/* --- giving --------------------------------------------------------------------------------- */

/* One worker gives messages to members. */
struct deal {
    struct actor *actor;
    struct executor *executor; /* of the calling thread */
    const struct members *members;
    uint32_t first; /* index of the first member that it compares itself with; they form a circle */
    uint32_t looks; /* number of these members */
    uint32_t next;  /* the next one of them to get a message */
    uint32_t idle;  /* number of them that had no message */
    uint32_t level; /* messages that each of them should have in the end */
    uint32_t limit; /* of the messages that a receiver has before: 1, then the level */
    bool refused;   /* a message that may go found no receiver */
};

static const struct member *member_at(const struct deal *deal, uint32_t number)
{
    return &deal->members->members[(deal->first + number) % deal->members->count];
}

/* False: the member is the giver itself, or takes no message now. */
static bool may_get(const struct deal *deal, const struct member *member)
{
    return member->actor && member->actor != deal->actor &&
           !mailbox_is_closed(&member->actor->mailbox);
}

/* All messages in hand count as one. */
static uint32_t load_of(const struct member *member)
{
    struct ledger_reading reading;

    ledger_read(&member->actor->ledger, &member->actor->mailbox, &reading);
    return mailbox_waiting(&member->actor->mailbox) + (reading.in_hand > 0);
}

/* The load of the giver: a message in hand or in its outbox counts as one more. */
static uint32_t own_load(struct actor *actor)
{
    return mailbox_waiting(&actor->mailbox) + (actor->kept.count > 0 || output_is_waiting(actor));
}

/* In a large pool a worker compares itself with some members only: those from `from` on, or, for
 * GIVES_ANY, from an index on that depends on its own place. */
static void choose(struct deal *deal, const struct place *place, uint32_t from)
{
    uint64_t sum = own_load(deal->actor);
    uint32_t count = 1;

    deal->looks = deal->members->count < REBALANCE_LOOKS ? deal->members->count : REBALANCE_LOOKS;
    deal->first = from != GIVES_ANY
                      ? from % deal->members->count
                      : (uint32_t)((uint64_t)place->index * REBALANCE_LOOKS % deal->members->count);
    for (uint32_t i = 0; i < deal->looks; i++) {
        const struct member *member = member_at(deal, i);
        uint32_t load;

        if (!may_get(deal, member))
            continue;
        load = load_of(member);
        deal->idle += load == 0;
        sum += load;
        count++;
    }
    deal->level = (uint32_t)((sum + count - 1) / count);
    deal->limit = 1;
}

/* The messages that the giver has above the level; one at least, if another member is idle. */
static uint32_t surplus_of(struct deal *deal)
{
    uint32_t load = own_load(deal->actor);

    if (load > deal->level)
        return load - deal->level;
    deal->level = 1;
    return load > 1 && deal->idle > 0 ? 1 : 0;
}

/* Under the lock, so that the sums over the pool count the message once. */
static int hand_over(const struct deal *deal, const struct member *member, struct message *message)
{
    struct pool *pool = pool_of_place(deal->actor->place);
    int status;

    lock_acquire(&pool->lock);
    status = deliver(member->actor, member->serial, deal->executor, message);
    if (status == 0)
        settle_moved(deal->actor);
    lock_release(&pool->lock);
    return status;
}

/* Gives a message to the next member below the limit. Takes it on 0. */
static int give_below_limit(struct deal *deal, struct message *message)
{
    for (uint32_t tries = 0; tries < deal->looks; tries++) {
        const struct member *member = member_at(deal, deal->next++ % deal->looks);

        if (may_get(deal, member) && load_of(member) < deal->limit &&
            hand_over(deal, member, message) == 0)
            return 0;
    }
    return WEIR_EFULL;
}

/* Idle members come first. Takes the message on 0. */
static int give(void *context, struct message *message)
{
    struct deal *deal = context;

    if (give_below_limit(deal, message) == 0)
        return 0;
    if (deal->limit < deal->level) {
        deal->limit = deal->level;
        if (give_below_limit(deal, message) == 0)
            return 0;
    }
    deal->refused = true;
    return WEIR_EFULL;
}

/* Returns how many were given. */
static uint32_t give_away(struct deal *deal, uint32_t count)
{
    const struct dealer dealer = { .executor = deal->executor, .give = give, .context = deal };
    uint32_t given = backlog_deal(deal->actor, count, &dealer);
    struct credit credit = { .places = given };

    credit_return_now(&credit, deal->actor, deal->executor);
    return given;
}

static struct deal deal_of(const struct place *place, struct executor *executor)
{
    struct pool *pool = pool_of_place(place);

    return (struct deal){
        .actor = place->actor,
        .executor = executor,
        /* [P1] pairs with members_publish. */
        .members = atomic_load_explicit(&pool->members, memory_order_acquire),
    };
}

void rebalance_give(struct place *place)
{
    struct actor *actor = place->actor;
    struct deal deal = deal_of(place, actor->executor);
    uint32_t surplus;
    /* Relaxed, both: the signal has published it. */
    uint32_t gives = atomic_load_explicit(&place->gives, memory_order_relaxed);

    if (!gives)
        return;
    atomic_store_explicit(&place->gives, 0, memory_order_relaxed);
    if (actor->leaving || !rebalance_shares(pool_of_place(place)) || deal.members->count < 2)
        return;
    choose(&deal, place, gives - 1);
    surplus = surplus_of(&deal);
    if (surplus > 0)
        (void)give_away(&deal, surplus);
}

/* --- for a worker whose callback takes long ------------------------------------------------- */

/* Counts the idle ones among some members, which are others at each call. */
static void find_idle(struct deal *deal)
{
    deal->looks = deal->members->count < REBALANCE_LOOKS ? deal->members->count : REBALANCE_LOOKS;
    deal->first = (uint32_t)(executor_random(deal->executor) % deal->members->count);
    for (uint32_t i = 0; i < deal->looks; i++) {
        const struct member *member = member_at(deal, i);

        deal->idle += may_get(deal, member) && actor_is_idle(member->actor);
    }
}

/* A worker that leaves gives to members of its own spec only, and nothing that is discarded. */
static bool leaver_gives_locked(const struct pool *pool, const struct place *place)
{
    return place->made_of == pool->spec && pool->settings.remove.mode != WEIR_REMOVE_DISCARD;
}

static bool may_be_relieved(struct place *place)
{
    struct pool *pool = pool_of_place(place);
    bool may;

    if (!rebalance_shares(pool))
        return false;
    lock_acquire(&pool->lock);
    may = place->standing == PLACE_MEMBER || leaver_gives_locked(pool, place);
    lock_release(&pool->lock);
    return may;
}

bool rebalance_relieve(struct place *place, struct executor *executor)
{
    struct deal deal = deal_of(place, executor);
    uint32_t waiting = mailbox_waiting(&place->actor->mailbox);
    uint32_t surplus;

    if (deal.members->count == 0 || !may_be_relieved(place))
        return true;
    find_idle(&deal);
    if (deal.idle == 0)
        return true;
    /* As many as each idle one gets stay; the message in hand is one more. */
    surplus = waiting - waiting / (deal.idle + 1);
    if (surplus > RELIEF_MAX)
        surplus = RELIEF_MAX;
    deal.level = (surplus + deal.idle - 1) / deal.idle;
    deal.limit = 1;
    return give_away(&deal, surplus) > 0 || deal.refused;
}
