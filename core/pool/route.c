/* SPDX-License-Identifier: MIT */
#include "pool/route.h"

#include "actor/deliver.h"
#include "actor/fullness.h"
#include "pool/broadcast.h"
#include "pool/elastic.h"
#include "pool/keyless.h"
#include "pool/lease_group.h"
#include "pool/lending.h"
#include "pool/load.h"
#include "pool/pool.h"
#include "pool/pulling.h"
#include "pool/rendezvous.h"
#include "pool/route_ops.h"
#include "pool/takers.h"
#include "pool/unwanted.h"

#define UNLIMITED_ROOM 64
#define EXACT_MAX 16 /* least_loaded looks at all members up to here, at two above */
#define ROOM_MAX (1u << 20)
#define OTHERS_MAX 16 /* so much more does an answer FULL cost, for which all are tried again */
#define IDLE_LOOKS 64 /* members of an elastic pool; each costs a cache line */

static struct members *members_of(struct pool *pool)
{
    /* [P1] pairs with members_publish. */
    return atomic_load_explicit(&pool->members, memory_order_acquire);
}

/* A message that is routed, and the state of the scan of the present pool. */
struct attempt {
    struct executor *executor;
    struct message *message;
    struct message_list *left; /* copies of a broadcast that found no room; NULL: refused */
    struct actor *taker;       /* the worker that accepted it; NULL: a queue, or none */
    bool woke;                 /* that worker was idle */
    struct scan scan;
};

static int route_below(struct pool *pool, struct attempt *attempt);

static int try_worker(const struct member *member, struct attempt *attempt)
{
    int status = deliver_woke(member->actor, member->serial, attempt->executor, attempt->message,
                              &attempt->woke);

    if (status != 0)
        fullness_met(&attempt->scan, member->actor);
    else
        attempt->taker = member->actor;
    return status;
}

static int try_member(const struct member *member, struct attempt *attempt)
{
    return member->pool ? route_below(member->pool, attempt) : try_worker(member, attempt);
}

/* The first member that this thread tries. */
uint32_t route_next(const struct pool *pool, struct executor *executor, uint32_t count)
{
    uint32_t round = executor->rounds[pool->number % EXECUTOR_ROUNDS]++;

    /* A division takes as long as all the rest. */
    return (count & (count - 1)) == 0 ? round & (count - 1) : round % count;
}

void route_pass_over(const struct pool *pool, struct executor *executor, uint32_t full)
{
    executor->rounds[pool->number % EXECUTOR_ROUNDS] += full;
}

static uint32_t two_choices(const struct members *members, struct executor *executor)
{
    uint64_t random = executor_random(executor);
    uint32_t one = (uint32_t)(random % members->count);
    uint32_t other = (uint32_t)((random >> 32) % members->count);

    return load_read(&members->members[other], executor) <
                   load_read(&members->members[one], executor)
               ? other
               : one;
}

static uint32_t least_loaded(const struct members *members, struct executor *executor,
                             uint32_t start)
{
    uint32_t best = start;
    uint32_t least;

    if (members->count > EXACT_MAX)
        return two_choices(members, executor);
    least = load_read(&members->members[start], executor);
    for (uint32_t i = 0; i < members->count && least > 0; i++) {
        uint32_t load = load_read(&members->members[i], executor);

        if (load >= least)
            continue;
        best = i;
        least = load;
    }
    return best;
}

static bool is_idle(const struct member *member)
{
    return member->actor && actor_is_idle(member->actor);
}

/* In an elastic pool: the idle worker with the lowest number comes first, so that surplus workers
 * are unused, and leave. False: none of the first is idle. */
static bool find_idle(const struct pool *pool, const struct members *members, uint32_t *out_first)
{
    uint32_t count = members->count < IDLE_LOOKS ? members->count : IDLE_LOOKS;

    if (!(flags_word(&pool->flags) & FLAGS_FIRST_IDLE))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        if (!is_idle(&members->members[i]))
            continue;
        *out_first = i;
        return true;
    }
    return false;
}

static struct route_choice choose_in_turn(struct pool *pool, const struct members *members,
                                          struct executor *executor, const struct message *message)
{
    struct route_choice all = { route_next(pool, executor, members->count), members->count };

    (void)message;
    (void)find_idle(pool, members, &all.first);
    return all;
}

static struct route_choice choose_least_loaded(struct pool *pool, const struct members *members,
                                               struct executor *executor,
                                               const struct message *message)
{
    struct route_choice all = { route_next(pool, executor, members->count), members->count };

    (void)message;
    if (!find_idle(pool, members, &all.first))
        all.first = least_loaded(members, executor, all.first);
    return all;
}

static struct route_choice choose_at_random(struct pool *pool, const struct members *members,
                                            struct executor *executor,
                                            const struct message *message)
{
    struct route_choice all = { 0, members->count };

    (void)message;
    if (!find_idle(pool, members, &all.first))
        all.first = two_choices(members, executor);
    return all;
}

static struct route_choice choose_by_key(struct pool *pool, const struct members *members,
                                         struct executor *executor, const struct message *message)
{
    uint64_t key = message->public.key;

    if (key == 0) {
        keyless_log(pool, executor);
        return (struct route_choice){ 0, 0 };
    }
    /* Another hash at each level: otherwise all keys of a nested pool would belong to its first
     * member. */
    key += pool->depth * 0xc2b2ae3d27d4eb4full;
    return (struct route_choice){ rendezvous_owner(members, key), 1 };
}

static const struct member *chosen(const struct members *members, struct route_choice choice,
                                   uint32_t number)
{
    uint32_t index = choice.first + number;

    return &members->members[index < members->count ? index : index - members->count];
}

/* WEIR_EINVALID: not one of them would ever take it. */
static int try_all(struct pool *pool, const struct members *members, struct route_choice choice,
                   struct attempt *attempt)
{
    int refusal = WEIR_EINVALID;

    for (uint32_t i = 0; i < choice.count; i++) {
        const struct member *member = chosen(members, choice, i);
        int status = try_member(member, attempt);

        if (status == 0) {
            if (member->pool && route_ops_of(pool)->compares)
                load_add(member->pool);
            route_pass_over(pool, attempt->executor, i);
            return 0;
        }
        if (status != WEIR_EINVALID)
            refusal = WEIR_EFULL;
    }
    return refusal;
}

static struct route_choice choose(struct pool *pool, const struct members *members,
                                  const struct attempt *attempt)
{
    return route_ops_of(pool)->choose(pool, members, attempt->executor, attempt->message);
}

/* For routes that allow any member: tries each one once, unless a valid full mark says that all
 * were full. */
static int try_any(struct pool *pool, const struct members *members, uint64_t epoch,
                   struct attempt *attempt)
{
    struct scan above = attempt->scan;
    int status = WEIR_EFULL;

    attempt->scan = (struct scan){ 0 };
    if (members->count == 0 || fullness_refuses(&pool->owner.fullness))
        attempt->scan.looks = 1;
    else
        status = try_all(pool, members, choose(pool, members, attempt), attempt);
    if (status == WEIR_EFULL)
        fullness_note(&pool->owner.fullness, epoch, &attempt->scan);
    attempt->scan.looks += above.looks;
    attempt->scan.varies |= above.varies;
    return status;
}

/* The message's key determines the member. */
static int try_owner(struct pool *pool, const struct members *members, uint64_t epoch,
                     struct attempt *attempt)
{
    (void)epoch;
    attempt->scan.varies = true;
    if (members->count == 0)
        return WEIR_EFULL;
    return try_all(pool, members, choose(pool, members, attempt), attempt);
}

static int try_copies(struct pool *pool, const struct members *members, uint64_t epoch,
                      struct attempt *attempt)
{
    (void)members;
    (void)epoch;
    attempt->scan.varies = true;
    return broadcast(pool, attempt->executor, attempt->message, attempt->left, route_uncounted);
}

static int try_lease(struct pool *pool, const struct members *members, struct attempt *attempt)
{
    uint32_t first = route_ops_of(pool)->prefers_free || members->count == 0
                         ? LEASE_GROUP_MOST_FREE
                         : choose(pool, members, attempt).first;

    attempt->scan.looks++;
    return lease_group_push(pool, attempt->executor, attempt->message, first);
}

static int try_members(struct pool *pool, const struct members *members, uint64_t epoch,
                       struct attempt *attempt)
{
    if (lease_group_takes(pool, attempt->message))
        return try_lease(pool, members, attempt);
    return route_ops_of(pool)->try_members(pool, members, epoch, attempt);
}

static int try_queue(struct pool *pool, const struct members *members, uint64_t epoch,
                     struct attempt *attempt)
{
    int status;

    attempt->scan.looks++;
    attempt->scan.varies |= pulling_bytes_limit(pool) != UINT64_MAX;
    status = pulling_push(pool, attempt->executor, attempt->message);
    /* The route has changed since it was read; the lock makes the new one visible. Depth is bounded
     * by the number of changes. */
    return status == PULLING_NO_MORE ? try_members(pool, members, epoch, attempt) : status;
}

/* After a try in a pool that senses. A message that woke no worker waits for another message, or
 * for its worker to take any: the pool looks at its figures. A pool that pulls notices by its
 * queue. */
static void sense(struct pool *pool, const struct attempt *attempt, int status)
{
    if (status == WEIR_EFULL)
        elastic_starve(pool, attempt->executor);
    else if (status == 0 && attempt->taker && !attempt->woke)
        elastic_notice(pool, attempt->executor);
}

/* As route_message, uncounted. */
static int route_below(struct pool *pool, struct attempt *attempt)
{
    const struct members *members;

    do {
        uint64_t epoch = fullness_epoch(&pool->owner.fullness); /* read before the members are */
        int status;

        members = members_of(pool);
        status = flags_refusal(flags_word(&pool->flags));
        if (status != 0)
            return status;
        status = try_members(pool, members, epoch, attempt);
        if (pool_senses(pool))
            sense(pool, attempt, status);
        if (status != WEIR_EFULL)
            return status;
        /* Try again if the members were replaced during the scan: the tried ones may all have been
         * leaving. A pool that has closed during the scan returns CLOSED, not FULL. */
    } while (members != members_of(pool) || flags_is_closing(&pool->flags));
    /* A member that is broken or leaving is as good as full. */
    return WEIR_EFULL;
}

/* True for the usual case: open, not paused, of fixed size, round robin, without a full mark. */
static inline bool is_usual(struct pool *pool)
{
    return flags_word(&pool->flags) == 0 && !fullness_refuses(&pool->owner.fullness);
}

_Static_assert(WEIR_ROUTE_ROUND_ROBIN == 0, "see flags.h");

int route_uncounted(struct pool *pool, struct executor *executor, struct message *message,
                    struct message_list *left)
{
    struct attempt attempt = { .executor = executor, .message = message, .left = left };

    return route_below(pool, &attempt);
}

/* Out of line, so that the usual case saves no registers for it. */
__attribute__((noinline)) static int route_counted(struct pool *pool, struct executor *executor,
                                                   struct message *message,
                                                   struct message_list *left)
{
    int status = route_uncounted(pool, executor, message, left);

    if (status != 0)
        counter_add(&pool->refused, executor->reader.index, 1);
    return status;
}

/* The next member of a pool in the usual case. A single member needs no round-robin position, so
 * the thread's line of positions is not touched. NULL: the pool has no members. */
static inline const struct member *next_member(struct pool *pool, const struct members *members,
                                               struct executor *executor)
{
    switch (members->count) {
    case 0:
        return NULL;
    case 1:
        return &members->members[0];
    default:
        return &members->members[route_next(pool, executor, members->count)];
    }
}

/* When the next worker in turn has no room: tries some members after it, until one is a pool. Any
 * result but 0 is no answer for the whole pool. Out of line, as route_counted. */
__attribute__((noinline)) static int try_others(struct pool *pool, const struct members *members,
                                                struct executor *executor, struct message *message)
{
    uint32_t others = members->count - 1 < OTHERS_MAX ? members->count - 1 : OTHERS_MAX;
    struct route_choice choice = { route_next(pool, executor, members->count), others };

    for (uint32_t i = 0; i < others; i++) {
        const struct member *member = chosen(members, choice, i);

        if (!member->actor)
            return WEIR_EFULL;
        if (deliver(member->actor, member->serial, executor, message) == 0) {
            route_pass_over(pool, executor, i);
            return 0;
        }
    }
    return WEIR_EFULL;
}

/* Goes down through the levels that are in the usual case. Any result but 0: the message is not
 * delivered, and the next member in turn is no answer for the whole pool. A TAKE is not routed
 * here, because a lease group may queue it. */
static inline int route_in_turn(struct pool *pool, struct executor *executor,
                                struct message *message, struct message_list *left)
{
    const struct member *member = NULL;

    if (message->public.reserved & MESSAGE_TAKE)
        return WEIR_EFULL;
    while (is_usual(pool)) {
        const struct members *members = members_of(pool);

        member = next_member(pool, members, executor);
        if (!member)
            return WEIR_EFULL;
        if (member->actor) {
            if (deliver(member->actor, member->serial, executor, message) == 0)
                return 0;
            return try_others(pool, members, executor, message);
        }
        pool = member->pool;
    }
    /* A level that has given the message its turn is not entered again: it would skip a member. */
    return member ? route_uncounted(pool, executor, message, left) : WEIR_EFULL;
}

int route_leaving(struct pool *pool, struct executor *executor, struct message *message,
                  struct message_list *left)
{
    if (route_in_turn(pool, executor, message, left) == 0)
        return 0;
    return route_counted(pool, executor, message, left);
}

int route_message(struct pool *pool, struct executor *executor, struct message *message)
{
    return route_leaving(pool, executor, message, NULL);
}

int route_take(struct pool *pool, struct executor *executor, struct message *take)
{
    if (route_uncounted(pool, executor, take, NULL) == 0)
        return 0;
    /* Takers that have given up wait in the queue until a member looks at them, or another taker
     * needs their room. A member may have done so since the first try. */
    unwanted_drop(pool, executor);
    return route_counted(pool, executor, take, NULL);
}

bool route_lend(struct pool *pool, struct executor *executor, struct weir_lease *out)
{
    const struct members *members = members_of(pool);
    const struct route_ops *ops = route_ops_of(pool);
    struct attempt attempt = { .executor = executor };
    uint32_t first = LEASE_GROUP_MOST_FREE;
    uint32_t *round = &executor->rounds[pool->number % EXECUTOR_ROUNDS];
    const uint32_t turn = *round;
    struct pool *member;

    if (flags_refusal(flags_word(&pool->flags)) != 0)
        return false;
    if (ops->pulls)
        return lending_begin(pool, pool, executor, out);
    if (ops->has_keys || members->count == 0)
        return false;
    if (!ops->prefers_free)
        first = choose(pool, members, &attempt).first;
    member = lease_group_choose(members, first);
    if (member && lending_begin(member, pool, executor, out))
        return true;
    *round = turn; /* the TAKE that follows has this turn of the round */
    return false;
}

static uint32_t room_in(struct actor *actor)
{
    struct mailbox *mailbox = &actor->mailbox;
    uint32_t room = mailbox_room(mailbox);

    if (mailbox_is_closed(mailbox) || mailbox_bytes_full(mailbox))
        return 0;
    return room == UINT32_MAX ? UNLIMITED_ROOM : room;
}

static uint32_t room_in_queue(struct pool *pool, const struct members *members)
{
    uint64_t room = pulling_room(pool);

    if (room > ROOM_MAX) /* unlimited */
        room = (uint64_t)members->count * UNLIMITED_ROOM;
    return room < ROOM_MAX ? (uint32_t)room : ROOM_MAX;
}

static uint32_t room_of_member(const struct member *member)
{
    return member->pool ? route_room(member->pool) : room_in(member->actor);
}

/* The least room of all members, since each takes every message; leaving members do not count. */
static uint32_t room_for_copies(struct pool *pool, const struct members *members)
{
    uint32_t least = ROOM_MAX;
    uint32_t asked = 0;

    (void)pool;
    for (uint32_t i = 0; i < members->count && least > 0; i++) {
        uint32_t room;

        if (broadcast_passes_over(&members->members[i]))
            continue;
        room = room_of_member(&members->members[i]);
        least = room < least ? room : least;
        asked++;
    }
    return asked ? least : 0;
}

static uint32_t sum_of_room(struct pool *pool, const struct members *members)
{
    uint32_t sum = 0;

    (void)pool;
    for (uint32_t i = 0; i < members->count && sum < ROOM_MAX; i++)
        sum += room_of_member(&members->members[i]);
    return sum;
}

uint32_t route_room(struct pool *pool)
{
    if (flags_is_paused(&pool->flags))
        return 0;
    return route_ops_of(pool)->room(pool, members_of(pool));
}

uint32_t route_room_of_only_worker(struct pool *pool)
{
    const struct members *members = members_of(pool);

    if (members->count != 1 || members->members[0].pool || !route_ops_of(pool)->in_turn)
        return 0;
    return room_in(members->members[0].actor);
}

const struct route_ops route_table[] = {
    [WEIR_ROUTE_ROUND_ROBIN] = { try_any, choose_in_turn, sum_of_room, .in_turn = true },
    [WEIR_ROUTE_LEAST_LOADED] = { try_any, choose_least_loaded, sum_of_room, .compares = true,
                                  .prefers_free = true },
    [WEIR_ROUTE_RANDOM] = { try_any, choose_at_random, sum_of_room, .compares = true },
    [WEIR_ROUTE_HASH] = { try_owner, choose_by_key, sum_of_room, .has_keys = true },
    [WEIR_ROUTE_PULL] = { try_queue, choose_in_turn, room_in_queue, .pulls = true },
    [WEIR_ROUTE_BROADCAST] = { try_copies, choose_in_turn, room_for_copies, .copies = true },
};
