/* SPDX-License-Identifier: MIT */
#include "pool/figures.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actor/children.h"
#include "actor/lease.h"
#include "actor/lifecycle.h"
#include "actor/misuse.h"
#include "actor/runtime.h"
#include "pool/lending.h"
#include "pool/pulling.h"

#define NS_PER_MS 1000000u

/* One pool's sums while its places are walked. */
struct tally {
    struct weir_pool_stats stats;
    struct ledger_reading ledger;
    uint64_t oldest_ns;
};

static_assert((int)DEAD_REASONS <= WEIR_DEAD_REASONS_MAX, "the figures have room for each reason");

static void count_age(struct tally *tally, uint64_t age_ns)
{
    if (age_ns > tally->oldest_ns)
        tally->oldest_ns = age_ns;
}

/* Read in this order: each message that is counted as admitted is admitted by now, and waits if it
 * is not counted as taken afterwards. */
uint64_t figures_age_of_place_locked(struct place *place)
{
    struct actor *actor = place->actor;
    uint64_t admitted = mailbox_accepted(&actor->mailbox);
    uint64_t now_ns = clock_now_ns(&actor->runtime->options.clock);
    uint64_t taken = mailbox_taken(&actor->mailbox);

    if (!place->age)
        place->age = calloc(1, sizeof *place->age);
    /* NULL: memory was out, and the age is unknown. */
    return place->age ? age_read(place->age, admitted, taken, now_ns) : 0;
}

/* A lower bound of the age of the oldest message in hand, from the numbers of beginnings and of
 * those that are over. A message that is given again begins once more. The second beginnings are
 * read last: one too many makes the age too small. */
static uint64_t age_in_hand_locked(struct place *place, const struct ledger_reading *reading)
{
    /* Relaxed: a figure for people. */
    uint64_t begun = reading->accepted - reading->queued +
                     atomic_load_explicit(&place->actor->ledger.resumed, memory_order_relaxed);

    if (!place->hand_age && reading->in_hand > 0)
        place->hand_age = calloc(1, sizeof *place->hand_age);
    if (place->hand_age && reading->in_hand == 0)
        *place->hand_age = (struct age){ .count = 0 };
    if (!place->hand_age || reading->in_hand == 0)
        return 0;
    return age_read(place->hand_age, begun, begun - reading->in_hand,
                    clock_now_ns(&place->actor->runtime->options.clock));
}

static uint32_t waiters_of(const struct wait_queue *queue)
{
    /* Relaxed: a figure for people. */
    return queue ? atomic_load_explicit(&queue->count, memory_order_relaxed) : 0;
}

static void count_place(struct tally *tally, struct place *place, bool retiring)
{
    struct progress_sum progress = { 0 };
    struct ledger_reading reading;
    /* Acquire pairs with the exchange in room_queue.c. */
    struct wait_queue *waiters = atomic_load_explicit(&place->actor->room_queue,
                                                      memory_order_acquire);

    tally->stats.waiting += waiters_of(waiters);

    ledger_read(&place->actor->ledger, &place->actor->mailbox, &reading);
    lease_add_ledger(place, &reading);
    ledger_reading_add(&tally->ledger, &reading);
    (void)age_in_hand_locked(place, &reading);
    children_add_ledger(place, &tally->ledger);
    if (reading.queued > 0)
        count_age(tally, figures_age_of_place_locked(place));
    tally->stats.retrying += atomic_load_explicit(&place->retrying, memory_order_relaxed);
    tally->stats.restarts += atomic_load_explicit(&place->restarts, memory_order_relaxed);
    tally->stats.retried += atomic_load_explicit(&place->retried, memory_order_relaxed);
    children_add_progress(place, &progress);
    tally->stats.throttled += progress.throttled;
    if (retiring) {
        tally->stats.retiring++;
        return;
    }
    /* Counts open, accepting workers: prepared ones wait for the commit of a reload. */
    if (place->opened && place->standing != PLACE_PREPARED)
        tally->stats.live++;
    else
        tally->stats.starting++;
    tally->stats.stopped += actor_state(place->actor) == ACTOR_STOPPED;
    if (reading.in_hand > 0)
        tally->stats.busy++;
    else if (place->opened && place->standing != PLACE_PREPARED && place_waits_at(place) == 0)
        tally->stats.idle++;
}

static void count_places(struct tally *tally, struct list *places, bool retiring)
{
    for (struct list *node = places->next; node != places; node = node->next)
        count_place(tally, LIST_ENTRY(node, struct place, link), retiring);
}

/* The queue is frozen until it is thawed. */
static uint32_t freeze_queue_locked(struct pool *pool, uint64_t *out_age_ns)
{
    uint32_t waiting = pulling_freeze_locked(pool);
    uint64_t admitted = pulling_admitted_frozen(pool);

    *out_age_ns = 0;
    if (waiting > 0)
        *out_age_ns = age_read(&pool->age, admitted, admitted - waiting,
                               clock_now_ns(&pool->runtime->options.clock));
    return waiting;
}

uint64_t figures_look_at_queue_locked(struct pool *pool, uint64_t *out_age_ns)
{
    uint32_t waiting = freeze_queue_locked(pool, out_age_ns);

    pulling_thaw_locked(pool);
    return waiting;
}

/* The queue of a pool that routes by pull, frozen until it is thawed. */
static void count_queue_locked(struct tally *tally, struct pool *pool)
{
    uint64_t age_ns;
    uint32_t waiting = freeze_queue_locked(pool, &age_ns);

    count_age(tally, age_ns);
    tally->ledger.accepted += waiting;
    tally->ledger.queued += waiting;
}

/* Locks the pools so many levels below the children; false: there are none. Depth is bounded by the
 * configuration. */
static bool lock_level_locked(struct pool *pool, uint32_t level)
{
    bool found = false;

    for (uint32_t i = 0; i < pool->child_count; i++) {
        if (level > 0) {
            found |= lock_level_locked(pool->children[i], level - 1);
            continue;
        }
        lock_acquire_beside(&pool->children[i]->lock, &pool->lock);
        found = true;
    }
    return found;
}

static void release_children(struct pool *pool)
{
    for (uint32_t i = 0; i < pool->child_count; i++) {
        release_children(pool->children[i]);
        lock_release(&pool->children[i]->lock);
    }
}

/* Whether the pool, or each pool in it, is paused. */
static bool is_paused_locked(const struct pool *pool)
{
    bool paused = pool->child_count > 0;

    for (uint32_t i = 0; i < pool->child_count && paused; i++)
        paused = is_paused_locked(pool->children[i]);
    return paused || flags_is_paused(&pool->flags);
}

static void count_tree_locked(struct tally *tally, struct pool *pool)
{
    uint64_t waiting;

    tally->stats.target += pool->target;
    tally->stats.waiting += waiters_of(&pool->waiters);
    tally->stats.epoch += pool->epoch;
    tally->stats.restarts += pool->gone_restarts;
    tally->stats.retried += pool->gone_retried;
    tally->stats.reopened += pool->escalation.reopened;
    ledger_reading_add(&tally->ledger, &pool->gone);
    count_queue_locked(tally, pool);
    count_places(tally, &pool->places, false);
    count_places(tally, &pool->prepared, false);
    count_places(tally, &pool->leavers, true);
    count_places(tally, &pool->closers, true);
    /* The queue stays frozen: workers of the children may take from it. */
    waiting = tally->stats.waiting;
    for (uint32_t i = 0; i < pool->child_count; i++)
        count_tree_locked(tally, pool->children[i]);
    tally->stats.waiting = waiting; /* those who wait for a child are its own */
    pulling_thaw_locked(pool);
}

/* All pools are locked before the first queue, since a pool that scales itself locks the queue of
 * its group after itself. */
static void count_pool(struct tally *tally, struct pool *pool)
{
    uint32_t level = 0;

    lock_acquire(&pool->lock);
    while (lock_level_locked(pool, level))
        level++;
    count_tree_locked(tally, pool);
    tally->stats.paused = is_paused_locked(pool);
    release_children(pool);
    lock_release(&pool->lock);
}

static void describe(struct pool *pool, struct weir_pool_stats *stats)
{
    const struct spec *spec;

    lock_acquire(&pool->lock);
    spec = pool->spec;
    if (spec) {
        stats->limit = pool->settings.mailbox;
        (void)snprintf(stats->behaviour, sizeof stats->behaviour, "%s%s%s", spec->plugin,
                       spec->plugin[0] ? "." : "",
                       spec->behaviour->name ? spec->behaviour->name : "");
    }
    lock_release(&pool->lock);
}

static void count_dead(struct pool *pool, struct weir_pool_stats *stats)
{
    struct dead_letters_figures dead = { 0 };

    pool_dead(pool, &dead);
    for (int reason = 0; reason < DEAD_REASONS; reason++)
        stats->dead_by[reason] = dead.counts[reason];
}

void pool_stats(struct pool *pool, struct weir_pool_stats *out)
{
    struct tally tally = { 0 };
    uint32_t size = out->size;

    count_pool(&tally, pool);
    tally.stats.size = size < sizeof tally.stats ? size : (uint32_t)sizeof tally.stats;
    if (tally.stats.live < tally.stats.target)
        tally.stats.degraded = tally.stats.target - tally.stats.live;
    tally.stats.accepted = tally.ledger.accepted;
    tally.stats.done = tally.ledger.done;
    tally.stats.dead = tally.ledger.dead;
    tally.stats.moved = tally.ledger.moved;
    tally.stats.queued = tally.ledger.queued;
    tally.stats.in_hand = tally.ledger.in_hand;
    tally.stats.held = tally.ledger.held;
    tally.stats.oldest_ms = tally.oldest_ns / NS_PER_MS;
    tally.stats.refused = counter_sum(&pool->refused);
    count_dead(pool, &tally.stats);
    describe(pool, &tally.stats);
    memcpy(out, &tally.stats, tally.stats.size);
}

void pool_ledger(struct pool *pool, struct ledger_reading *out)
{
    struct tally tally = { 0 };

    count_pool(&tally, pool);
    *out = tally.ledger;
}

void pool_dead(struct pool *pool, struct dead_letters_figures *out)
{
    dead_letters_figures(&pool->dead, out);
    lock_acquire(&pool->lock);
    for (uint32_t i = 0; i < pool->child_count; i++)
        pool_dead(pool->children[i], out);
    lock_release(&pool->lock);
}

void pool_retry_reason(struct pool *pool, char *text, size_t size)
{
    dead_letters_retry_reason(&pool->dead, text, size);
}

uint32_t pool_target(struct pool *pool)
{
    uint32_t target;

    lock_acquire(&pool->lock);
    target = pool->target;
    lock_release(&pool->lock);
    return target;
}

/* --- members ---------------------------------------------------------------------------------- */

/* Where the next member is written. */
struct listing {
    char *at;
    uint32_t stride;
    uint32_t max;
    uint32_t count;
};

static void list_member(struct listing *listing, struct weir_member *member)
{
    uint32_t size = sizeof *member;

    if (listing->count++ >= listing->max)
        return;
    if (size > listing->stride)
        size = listing->stride;
    member->size = size;
    memcpy(listing->at, member, size);
    listing->at += listing->stride;
}

static uint32_t state_of(const struct place *place, bool retiring)
{
    if (retiring)
        return WEIR_MEMBER_RETIRING;
    if (place->opened)
        return WEIR_MEMBER_OPEN;
    if (actor_state(place->actor) == ACTOR_STOPPED)
        return WEIR_MEMBER_STOPPED;
    /* Relaxed: a figure for people. */
    return atomic_load_explicit(&place->opens, memory_order_relaxed) ? WEIR_MEMBER_BROKEN
                                                                     : WEIR_MEMBER_STARTING;
}

static void list_places(struct listing *listing, struct list *places, bool retiring)
{
    for (struct list *node = places->next; node != places; node = node->next) {
        struct place *place = LIST_ENTRY(node, struct place, link);
        struct ledger_reading reading;
        struct weir_member member = {
            .index = place->index,
            .pid = actor_pid(place->actor),
            .state = state_of(place, retiring),
            .restarts = atomic_load_explicit(&place->restarts, memory_order_relaxed),
            .retrying = atomic_load_explicit(&place->retrying, memory_order_relaxed),
            .process = atomic_load_explicit(&place->process, memory_order_relaxed),
        };

        lending_read_ledger(place, &reading);
        member.busy = reading.in_hand > 0;
        member.queued = reading.queued;
        member.held = reading.held;
        member.in_hand = reading.in_hand;
        member.hand_ms = age_in_hand_locked(place, &reading) / NS_PER_MS;
        list_member(listing, &member);
    }
}

static void list_child(struct listing *listing, struct pool *child, uint32_t index)
{
    struct weir_pool_stats stats = { .size = sizeof stats };
    struct weir_member member = { .index = index, .pid = child->pid, .state = WEIR_MEMBER_POOL };

    if (listing->count < listing->max)
        pool_stats(child, &stats);
    member.busy = stats.busy;
    member.queued = stats.queued;
    member.restarts = stats.restarts;
    member.held = stats.held;
    member.in_hand = stats.in_hand;
    member.retrying = stats.retrying;
    list_member(listing, &member);
}

uint32_t pool_members(struct pool *pool, struct weir_member *out, uint32_t member_size,
                      uint32_t max)
{
    struct listing listing = { .at = (char *)out, .stride = member_size, .max = max };

    lock_acquire(&pool->lock);
    list_places(&listing, &pool->places, false);
    list_places(&listing, &pool->leavers, true);
    list_places(&listing, &pool->closers, true);
    for (uint32_t i = 0; i < pool->child_count; i++)
        list_child(&listing, pool->children[i], i);
    lock_release(&pool->lock);
    return listing.count;
}

/* --- progress ------------------------------------------------------------------------------- */

static void add_places_progress(struct list *places, struct progress_sum *sum)
{
    for (struct list *node = places->next; node != places; node = node->next)
        children_add_progress(LIST_ENTRY(node, struct place, link), sum);
}

static void add_pool_progress(struct pool *pool, struct progress_sum *sum)
{
    lock_acquire(&pool->lock);
    progress_add(sum, &pool->gone_progress);
    add_places_progress(&pool->places, sum);
    add_places_progress(&pool->leavers, sum);
    add_places_progress(&pool->closers, sum);
    for (uint32_t i = 0; i < pool->child_count; i++)
        add_pool_progress(pool->children[i], sum);
    lock_release(&pool->lock);
}

uint32_t pool_progress(struct pool *pool, struct pool_progress *out, uint32_t max)
{
    struct progress_sum sum = { 0 };

    add_pool_progress(pool, &sum);
    return progress_list(&sum, out, max);
}

uint64_t pool_emitted(struct pool *pool)
{
    struct progress_sum sum = { 0 };

    add_pool_progress(pool, &sum);
    return sum.emitted;
}

uint64_t pool_unbound(struct pool *pool)
{
    struct progress_sum sum = { 0 };

    add_pool_progress(pool, &sum);
    return sum.unbound;
}

static void add_waiting(struct list *places, uint32_t output, struct pool_waiting *out)
{
    for (struct list *node = places->next; node != places; node = node->next) {
        const struct place *place = LIST_ENTRY(node, struct place, link);

        if (place_waits_at(place) != output + 1)
            continue;
        if (place_throttled(place) > 0)
            out->for_rate++;
        else
            out->for_room++;
    }
}

void pool_waiting_at(struct pool *pool, uint32_t output, struct pool_waiting *out)
{
    *out = (struct pool_waiting){ 0 };
    lock_acquire(&pool->lock);
    add_waiting(&pool->places, output, out);
    lock_release(&pool->lock);
}

uint64_t pool_misuses(struct pool *pool)
{
    uint64_t sum = misuses_total(&pool->misuses);

    lock_acquire(&pool->lock);
    for (uint32_t i = 0; i < pool->child_count; i++)
        sum += pool_misuses(pool->children[i]);
    lock_release(&pool->lock);
    return sum;
}

/* --- opening -------------------------------------------------------------------------------- */

static void note_failed(const struct place *place, int status, struct pool_opening *out)
{
    out->failed++;
    out->status = status;
    (void)snprintf(out->path, sizeof out->path, "%s", place->path);
    (void)snprintf(out->reason, sizeof out->reason, "%s", place_open_reason(place));
}

static void look_at_opening(struct list *places, struct pool_opening *out)
{
    for (struct list *node = places->next; node != places; node = node->next) {
        struct place *place = LIST_ENTRY(node, struct place, link);
        /* Acquire pairs with the release in open_actor: the status is of an open. */
        uint32_t opens = atomic_load_explicit(&place->opens, memory_order_acquire);
        int status = atomic_load_explicit(&place->open_status, memory_order_relaxed);

        if (place->opened)
            out->open++;
        else if (opens > 0 && status != 0)
            note_failed(place, status, out);
        else if (actor_state(place->actor) == ACTOR_STOPPED)
            out->stopped++;
        else
            out->starting++;
    }
}

/* The manager, if a behaviour: its place is opened like a worker's. */
static void look_at_manager_locked(const struct pool *pool, struct pool_opening *out)
{
    const struct place *manager = pool->manager;
    uint32_t opens;
    int status;

    if (!manager || !pool->has_manager)
        return;
    /* Acquire, as in look_at_opening. */
    opens = atomic_load_explicit(&manager->opens, memory_order_acquire);
    status = atomic_load_explicit(&manager->open_status, memory_order_relaxed);
    if (opens == 0) {
        out->starting++;
        out->manager_starts = true;
    }
    if (opens == 0 || status == 0)
        return;
    note_failed(manager, status, out);
    out->manager = true;
}

void pool_opening(struct pool *pool, struct pool_opening *out)
{
    lock_acquire(&pool->lock);
    look_at_opening(&pool->places, out);
    look_at_manager_locked(pool, out);
    for (uint32_t i = 0; i < pool->child_count; i++)
        pool_opening(pool->children[i], out);
    lock_release(&pool->lock);
}

void pool_opening_here(struct pool *pool, struct pool_opening *out)
{
    lock_acquire(&pool->lock);
    look_at_opening(&pool->places, out);
    look_at_manager_locked(pool, out);
    lock_release(&pool->lock);
}

void pool_opening_prepared(struct pool *pool, struct pool_opening *out)
{
    lock_acquire(&pool->lock);
    look_at_opening(&pool->prepared, out);
    lock_release(&pool->lock);
}

uint32_t pool_open_workers(struct pool *pool)
{
    uint32_t open = 0;

    lock_acquire(&pool->lock);
    for (struct list *node = pool->places.next; node != &pool->places; node = node->next)
        open += LIST_ENTRY(node, struct place, link)->opened;
    lock_release(&pool->lock);
    return open;
}
