/* SPDX-License-Identifier: MIT */
#include "pool/lease_group.h"

#include "actor/lifecycle.h"
#include "pool/elastic.h"
#include "pool/pulling.h"
#include "pool/route_ops.h"
#include "pool/takers.h"
#include "pool/unwanted.h"

bool lease_group_takes(const struct pool *pool, const struct message *message)
{
    /* The caller has read the members before: they are not newer than the route. */
    return (message->public.reserved & MESSAGE_TAKE) && leases_are_given(&pool->leases) &&
           !route_ops_of(pool)->pulls;
}

/* Pause holds for a member of a group as for a pool: it gives nothing to takers. */
static bool is_paused(const struct pool *pool)
{
    return flags_is_paused(&pool->flags);
}

static uint32_t free_in(const struct member *member)
{
    const struct pool *pool = member->pool;

    /* Relaxed: a hint about which pool to try first. */
    return pool && !is_paused(pool)
               ? atomic_load_explicit(&pool->pull.sleeping, memory_order_relaxed)
               : 0;
}

/* The member with the most free workers; of several, the first. */
static uint32_t with_most_free(const struct members *members)
{
    uint32_t best = 0;

    for (uint32_t i = 1; i < members->count; i++)
        if (free_in(&members->members[i]) > free_in(&members->members[best]))
            best = i;
    return best;
}

static uint32_t choose(const struct members *members, uint32_t first)
{
    return first < members->count && free_in(&members->members[first]) > 0
               ? first
               : with_most_free(members);
}

struct pool *lease_group_choose(const struct members *members, uint32_t first)
{
    return members->members[choose(members, first)].pool;
}

/* Wakes a worker: of the pool with the number `first`, or, if that has no free one or does not
 * exist, of the one with most free workers. The lock of the group's queue is held. */
static bool wake_one_locked(struct pool *group, struct executor *executor, uint32_t first)
{
    /* [P1] pairs with members_publish. */
    const struct members *members = atomic_load_explicit(&group->members, memory_order_acquire);

    if (members->count == 0)
        return false;
    first = choose(members, first);
    for (uint32_t i = 0; i < members->count; i++) {
        struct pool *pool = members->members[(first + i) % members->count].pool;

        if (pool && !is_paused(pool) && pulling_wake_for(pool, &group->pull, executor))
            return true;
    }
    return false;
}

static uint64_t less(uint64_t number, uint64_t by)
{
    return number > by ? number - by : 0;
}

/* Workers of a member that are not in use, and that no taker of their own pool waits for. */
static uint64_t count_unused_of(struct pool *pool, bool at_once)
{
    uint64_t unused;

    lock_acquire(&pool->pull.lock);
    unused = less(takers_unused_locked(pool, at_once), pool->pull.messages.count);
    lock_release(&pool->pull.lock);
    return unused;
}

static uint64_t count_unused(const struct members *members, bool at_once)
{
    uint64_t unused = 0;

    for (uint32_t i = 0; i < members->count; i++) {
        struct pool *pool = members->members[i].pool;

        if (pool && !is_paused(pool))
            unused += count_unused_of(pool, at_once);
    }
    return unused;
}

/* Takers for which there is a worker that is not in use. The lock of the group's queue is held. */
static uint64_t unused_locked(const struct pool *group, bool at_once)
{
    /* [P1] pairs with members_publish. */
    const struct members *members = atomic_load_explicit(&group->members, memory_order_acquire);

    return takers_unused_locked(group, at_once) + count_unused(members, at_once);
}

/* A taker does not count as waiting while a worker comes to serve it. */
static bool has_room_locked(const struct pool *group, bool tries)
{
    const struct pull_queue *pull = &group->pull;
    uint64_t limit = tries ? 0 : pull->limit;

    return pull->messages.count < limit ||
           pull->messages.count < limit + unused_locked(group, tries);
}

/* Answers tries for which no worker comes any more. */
static void drop_tries(struct pool *group, struct executor *executor)
{
    struct message_list tries;

    lock_acquire(&group->lock);
    lock_acquire(&group->pull.lock);
    tries = takers_take_tries_locked(group, unused_locked(group, true));
    lock_release(&group->pull.lock);
    lock_release(&group->lock);
    takers_refuse_tries(group, executor, &tries);
}

/* --- growth ----------------------------------------------------------------------------------- */

/* A pool that scales itself, whose workers open, and that is not paused. */
static bool is_able(const struct pool *pool)
{
    const uint32_t checked = FLAGS_SENSES | FLAGS_STUCK | FLAGS_PAUSED;

    /* An older value: see elastic_publish_locked. */
    return pool && (flags_word(&pool->flags) & checked) == FLAGS_SENSES;
}

/* The member to ask for a worker: the able ones by turns. NULL: none is able. */
static struct pool *find_able(const struct members *members, uint64_t turn)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < members->count; i++)
        count += is_able(members->members[i].pool);
    if (count == 0)
        return NULL;
    turn %= count;
    for (uint32_t i = 0; i < members->count; i++)
        if (is_able(members->members[i].pool) && turn-- == 0)
            return members->members[i].pool;
    return NULL; /* one is not able any more */
}

static void ask_all(const struct members *members, struct executor *executor)
{
    for (uint32_t i = 0; i < members->count; i++)
        if (members->members[i].pool && pool_senses(members->members[i].pool))
            elastic_notice(members->members[i].pool, executor);
}

/* Asks one pool to grow for a taker that waits, or has found no room: all of them when none is
 * known to be able. */
static void ask_to_grow(struct pool *group, struct executor *executor, uint64_t turn, bool waits)
{
    /* [P1] pairs with members_publish. */
    const struct members *members = atomic_load_explicit(&group->members, memory_order_acquire);
    struct pool *able = find_able(members, turn);

    if (!waits)
        elastic_starve(able ? able : group, executor);
    else if (able)
        elastic_notice(able, executor);
    else
        ask_all(members, executor);
}

/* The workers of the pool that come for takers of the group: they open, or were woken. */
static uint32_t count_coming(struct pool *pool, const struct pull_queue *queue)
{
    uint32_t count = 0;

    lock_acquire(&pool->pull.lock);
    for (struct list *node = pool->places.next; node != &pool->places; node = node->next) {
        const struct place *place = LIST_ENTRY(node, struct place, link);

        count += place->called_by == queue || place->opens_for == queue;
    }
    lock_release(&pool->pull.lock);
    return count;
}

/* Takers of the group for which no worker of any pool comes, or opens for them. The lock of its
 * queue is held. */
static uint64_t count_lacking_locked(const struct pool *group)
{
    /* Relaxed: under the lock that adds to it; a later taker is seen at the next check. */
    uint64_t served = unused_locked(group, true) +
                      atomic_load_explicit(&group->pull.opening, memory_order_relaxed);

    return less(group->pull.messages.count, served);
}

/* The law sees workers that come for takers as free, so these takers count, too: while some lack a
 * worker, each that is not in use comes for another one. */
static void add_takers_locked(struct pool *pool, struct pull_queue *queue, uint64_t lacking,
                              uint64_t now_ns, struct scale_figures *figures)
{
    const struct message *first = message_queue_first(&queue->messages.queue);
    uint64_t age_ns = first && lacking > 0 ? less(now_ns, first->queued_ns) : 0;

    figures->waiting += lacking + count_coming(pool, queue);
    if (lacking > 0)
        figures->waiting += count_unused_of(pool, true);
    if (age_ns > figures->oldest_ns)
        figures->oldest_ns = age_ns;
}

/* True when the takers of the group do not count for the pool. */
static bool leaves_takers(const struct pool *pool, const struct group_growth *growth)
{
    if (is_paused(pool))
        return true;
    /* [P1] A pool that is stuck itself does not find itself. */
    return growth->is_stuck &&
           find_able(atomic_load_explicit(&pool->parent->members, memory_order_acquire), 0);
}

struct scale_verdict lease_group_decide_locked(struct pool *pool, const struct scale_law *law,
                                               struct scale_figures *figures, uint64_t now_ns,
                                               struct group_growth *growth)
{
    struct pool *group = lease_group_of(pool);
    struct scale_verdict verdict;
    uint64_t lacking;

    if (!group)
        return scale_decide(law, figures);
    growth->queue = &group->pull;
    lock_acquire(&group->pull.lock);
    lacking = leaves_takers(pool, growth) ? 0 : count_lacking_locked(group);
    add_takers_locked(pool, &group->pull, lacking, now_ns, figures);
    verdict = scale_decide(law, figures);
    growth->waits = group->pull.messages.count > 0;
    growth->planned = (uint32_t)less(verdict.target, figures->target);
    atomic_fetch_add_explicit(&group->pull.opening, growth->planned, memory_order_relaxed);
    lock_release(&group->pull.lock);
    return verdict;
}

void lease_group_grown_locked(struct pool *pool, const struct group_growth *growth)
{
    struct pull_queue *queue = growth->queue;
    uint32_t marked = 0;

    if (growth->planned == 0)
        return;
    lock_acquire(&queue->lock);
    lock_acquire(&pool->pull.lock);
    for (struct list *node = pool->places.next; node != &pool->places; node = node->next) {
        struct place *place = LIST_ENTRY(node, struct place, link);

        if (marked == growth->planned)
            break;
        if (place->opened || place->opens_for != &pool->pull ||
            actor_state(place->actor) != ACTOR_STARTING)
            continue;
        place->opens_for = queue;
        marked++;
    }
    atomic_fetch_sub_explicit(&pool->pull.opening, marked, memory_order_relaxed);
    lock_release(&pool->pull.lock);
    atomic_fetch_sub_explicit(&queue->opening, growth->planned - marked, memory_order_relaxed);
    lock_release(&queue->lock);
}

void lease_group_ask_others(struct pool *pool, struct executor *executor)
{
    struct pool *group = lease_group_of(pool);

    if (group) /* [P1] */
        ask_all(atomic_load_explicit(&group->members, memory_order_acquire), executor);
}

void lease_group_paused(struct pool *pool, bool paused, struct executor *executor)
{
    if (paused) {
        lease_group_ask_others(pool, executor);
    } else if (pool->parent) {
        lease_group_joined(pool->parent, executor);
        elastic_wake(pool, executor);
    }
}

/* Whether there is a pool that has stopped, and no other but pools that close. */
static bool have_all_stopped(const struct members *members)
{
    bool any = false;

    for (uint32_t i = 0; i < members->count; i++) {
        const struct pool *pool = members->members[i].pool;

        if (!pool || !(flags_is_closing(&pool->flags) || pulling_has_stopped(pool)))
            return false;
        any |= !flags_is_closing(&pool->flags);
    }
    return any;
}

void lease_group_stopped(struct pool *pool, struct executor *executor)
{
    struct pool *group = lease_group_of(pool);

    pulling_discard_stopped(pool, executor);
    /* [P1] A taker that comes later sees that they have stopped: they did before the lock of the
     * queue, which empties it. */
    if (group && have_all_stopped(atomic_load_explicit(&group->members, memory_order_acquire)))
        unwanted_refuse_takers(group, executor, WEIR_ECRASHED);
}

static bool do_all_close(const struct members *members)
{
    for (uint32_t i = 0; i < members->count; i++)
        if (!members->members[i].pool || !flags_is_closing(&members->members[i].pool->flags))
            return false;
    return true;
}

static bool takes_nothing(struct pool *group)
{
    bool is_closed;

    lock_acquire(&group->pull.lock);
    is_closed = group->pull.closed;
    lock_release(&group->pull.lock);
    return is_closed;
}

void lease_group_end(struct pool *group, struct executor *executor)
{
    if (!leases_are_given(&group->leases) || route_ops_of(group)->pulls || takes_nothing(group) ||
        !do_all_close(atomic_load_explicit(&group->members, memory_order_acquire))) /* [P1] */
        return;
    lock_acquire(&group->lock);
    pulling_close_locked(group);
    lock_release(&group->lock);
    unwanted_refuse_takers(group, executor, WEIR_ECLOSED);
}

/* --- takers ----------------------------------------------------------------------------------- */

/* False: each pool is paused, has the size 0, or its workers have all stopped. A group without
 * pools waits; a pool that closes is none. */
static bool is_open(const struct members *members)
{
    bool any = false;

    for (uint32_t i = 0; i < members->count; i++) {
        const struct pool *pool = members->members[i].pool;

        if (!pool || flags_is_closing(&pool->flags))
            continue;
        if (!is_paused(pool) && pulling_has_workers(pool))
            return true;
        any = true;
    }
    return !any;
}

int lease_group_push(struct pool *group, struct executor *executor, struct message *take,
                     uint32_t first)
{
    struct pull_queue *pull = &group->pull;
    bool covered;
    uint64_t turn;
    int status = 0;

    lock_acquire(&pull->lock);
    if (pull->closed)
        status = WEIR_ECLOSED;
    else if (!pull->leases)
        status = WEIR_EUNSUPPORTED; /* since the taker looked */
    else if (!is_open(atomic_load_explicit(&group->members, memory_order_acquire)) || /* [P1] */
             (!wake_one_locked(group, executor, first) &&
              !has_room_locked(group, take->public.reserved & MESSAGE_TRIES)))
        status = WEIR_EFULL;
    if (status == 0) {
        take->public.reserved |= MESSAGE_GROUPED;
        pulling_append_locked(group, executor, take);
    }
    turn = pull->admitted;
    covered = status == 0 && pull->messages.count <= unused_locked(group, true);
    lock_release(&pull->lock);
    if (!covered)
        ask_to_grow(group, executor, turn, status == 0);
    return status;
}

static void put_back(struct place *place, struct message *message, struct executor *executor)
{
    struct pool *group = lease_group_of(pool_of_place(place));
    bool waits = false;

    if (group && (message->public.reserved & MESSAGE_GROUPED)) {
        lock_acquire(&group->pull.lock);
        waits = group->pull.leases;
        if (waits) {
            (void)wake_one_locked(group, executor, LEASE_GROUP_MOST_FREE);
            pulling_prepend_locked(group, message);
        }
        lock_release(&group->pull.lock);
    }
    if (!waits) /* a worker of the pool serves or refuses it */
        pulling_put_back(place, message, executor);
}

void lease_group_put_back(struct place *place, struct message *message)
{
    put_back(place, message, place->actor->executor);
}

/* Wakes a worker for a taker that none comes for. False: there is such a taker, and no worker
 * sleeps. */
static bool wake_if_waiting(struct pool *group, struct executor *executor)
{
    struct pull_queue *pull = &group->pull;
    bool is_served;

    lock_acquire(&pull->lock);
    is_served = pull->messages.count <= atomic_load_explicit(&pull->called, memory_order_relaxed) ||
                wake_one_locked(group, executor, LEASE_GROUP_MOST_FREE);
    lock_release(&pull->lock);
    return is_served;
}

/* Wakes a worker that sleeps if takers wait. False: as wake_if_waiting. */
static bool wake(struct pool *group, struct executor *executor)
{
    /* Relaxed, both: as in pulling_pass_on. */
    if (atomic_load_explicit(&group->pull.tries, memory_order_relaxed) > 0)
        drop_tries(group, executor);
    return atomic_load_explicit(&group->owner.waiting, memory_order_relaxed) == 0 ||
           wake_if_waiting(group, executor);
}

static void give_up_late(struct pool *pool, struct executor *executor, uint64_t now_ns)
{
    bool were_late;

    lock_acquire(&pool->lock);
    were_late = takers_give_up_late_locked(pool, now_ns);
    lock_release(&pool->lock);
    if (were_late)
        pulling_pass_on(pool, executor);
}

void lease_group_look(struct pool *pool, struct executor *executor, uint64_t now_ns)
{
    const struct members *members;
    bool lack;

    /* Relaxed: the taker was in the queue before the beat that it began. */
    if (!leases_are_given(&pool->leases) || route_ops_of(pool)->pulls ||
        atomic_load_explicit(&pool->owner.waiting, memory_order_relaxed) == 0)
        return;
    /* [P1] pairs with members_publish. */
    members = atomic_load_explicit(&pool->members, memory_order_acquire);
    for (uint32_t i = 0; i < members->count; i++)
        if (members->members[i].pool)
            give_up_late(members->members[i].pool, executor, now_ns);
    (void)wake(pool, executor); /* tries do not wait for late members */
    lock_acquire(&pool->pull.lock);
    lack = count_lacking_locked(pool) > 0;
    lock_release(&pool->pull.lock);
    if (lack)
        ask_all(members, executor);
}

void lease_group_joined(struct pool *group, struct executor *executor)
{
    /* A taker that looked at the members of before was in the queue when it left the lock. */
    if (leases_are_given(&group->leases))
        (void)wake_if_waiting(group, executor);
}

void lease_group_pass_on(struct pool *pool, struct executor *executor)
{
    struct pool *group = lease_group_of(pool);

    pulling_pass_on(pool, executor);
    if (group)
        (void)wake(group, executor);
}

void lease_group_missed(struct pool *pool, struct executor *executor)
{
    struct pool *group = lease_group_of(pool);

    pulling_missed(pool, executor);
    if (group && !wake(group, executor))
        ask_all(atomic_load_explicit(&group->members, memory_order_acquire), executor); /* [P1] */
}

void lease_group_hand_on(struct place *place, struct message *take, struct executor *executor)
{
    put_back(place, take, executor);
    lease_group_missed(pool_of_place(place), executor);
}
