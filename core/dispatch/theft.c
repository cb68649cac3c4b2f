/* SPDX-License-Identifier: MIT */
#include "dispatch/theft.h"

#include "dispatch/barrier.h"
#include "dispatch/layout.h"
#include "dispatch/press.h"

/* the most that a thread can have queued */
#define HAND_OVER_MAX (1 + RING_CAPACITY + SPAWN_DEQUE_CAPACITY)

/* A theft that took longer was interrupted; a shorter time comes from a coarse clock. */
#define THEFT_NS_MAX 4000u
#define THEFT_NS_MIN 100u
#define THEFT_WEIGHT 7 /* of the former mean, against 1 for the last theft */

static struct schedulable *steal_pressed(struct executor *executor, struct executor *victim)
{
    struct theft_note *note = &executor->notes[victim->index];
    uint32_t aged = ring_aged(&victim->ring, &note->queued, executor->now_ns, THEFT_AGE_NS);
    struct schedulable *taken = ring_steal(&victim->ring, &executor->ring, aged);

    if (taken ||
        !spawn_deque_aged(&victim->spawned, &note->spawned, executor->now_ns, THEFT_AGE_NS))
        return taken;
    return spawn_deque_steal(&victim->spawned);
}

static struct schedulable *steal_any(struct executor *executor, struct executor *victim)
{
    struct schedulable *taken = ring_steal(&victim->ring, &executor->ring, RING_CAPACITY);

    return taken ? taken : spawn_deque_steal(&victim->spawned);
}

static struct schedulable *steal_from(struct executor *executor, struct executor *victim)
{
    return press_lasts(victim) ? steal_pressed(executor, victim) : steal_any(executor, victim);
}

/* Adds to the mean time of the thefts. */
static void count_time(struct executor *executor, uint64_t took_ns)
{
    if (took_ns > THEFT_NS_MAX)
        took_ns = THEFT_NS_MAX;
    if (took_ns < THEFT_NS_MIN)
        took_ns = THEFT_NS_MIN;
    executor->theft_ns = (THEFT_WEIGHT * executor->theft_ns + took_ns) / (THEFT_WEIGHT + 1);
}

/* `is_first`: no other victim was tried since the clock was read. */
static void note_theft(struct executor *executor, struct executor *victim, bool is_first)
{
    uint64_t now_ns = clock_now_ns(&executor->clock);

    if (is_first)
        count_time(executor, now_ns - executor->now_ns);
    executor->now_ns = now_ns;
    atomic_fetch_add_explicit(&executor->steals, 1, memory_order_relaxed);
    executor->last_theft = (struct theft){ .victim = victim,
                                           .at_ns = now_ns,
                                           .handled = executor->handled,
                                           .failures = executor->last_theft.failures };
}

struct schedulable *theft_try(struct executor *executor, uint32_t first)
{
    struct dispatcher *dispatcher = executor->dispatcher;
    uint32_t count = dispatcher_slot_count(dispatcher);
    struct schedulable *taken = NULL;
    uint32_t tried = 0;

    for (uint32_t i = 0; i < count && !taken; i++) {
        struct executor *victim = dispatcher_executor(dispatcher, (first % count + i) % count);

        if (victim == executor || press_is_exempt(victim))
            continue;
        taken = steal_from(executor, victim);
        if (taken)
            note_theft(executor, victim, tried == 0);
        tried++;
    }
    return taken;
}

/* True when the messages that the thief has handled since took longer on average than a theft. */
static bool has_paid(const struct executor *executor, const struct theft *theft)
{
    uint64_t handled = executor->handled - theft->handled;

    return executor->now_ns - theft->at_ns > handled * executor->theft_ns;
}

void theft_judge(struct executor *executor)
{
    struct theft *last = &executor->last_theft;
    struct executor *victim = last->victim;

    if (!victim)
        return;
    last->victim = NULL;
    if (has_paid(executor, last))
        last->failures = 0;
    else if (++last->failures >= THEFT_FAILURES)
        press_exempt(victim);
}

void theft_end(struct executor *executor)
{
    if (!executor->last_theft.victim)
        return;
    executor->now_ns = clock_now_ns(&executor->clock);
    theft_judge(executor);
}

bool theft_is_worth(struct executor *executor)
{
    uint64_t queued = ring_count(&executor->ring);
    uint64_t spawned = spawn_deque_count(&executor->spawned);
    uint64_t longer = queued > spawned ? queued : spawned; /* a theft takes from one of them */

    if (longer == 0 || press_is_exempt(executor))
        return false;
    return !press_lasts(executor) || longer * pace_turn_ns(&executor->pace) >= THEFT_AGE_NS;
}

bool theft_has_waited(struct theft_note *note, struct executor *executor)
{
    bool queued = ring_aged(&executor->ring, &note->queued, 0, 0) > 0;
    bool spawned = spawn_deque_aged(&executor->spawned, &note->spawned, 0, 0);

    return (queued || spawned) && !press_is_exempt(executor);
}

bool theft_is_work_waiting(struct dispatcher *dispatcher)
{
    for (uint32_t i = 0, count = dispatcher_slot_count(dispatcher); i < count; i++)
        if (theft_is_worth(dispatcher_executor(dispatcher, i)))
            return true;
    return false;
}

static bool has_lifo(struct executor *executor)
{
    return atomic_load_explicit(&executor->lifo, memory_order_relaxed) != NULL;
}

static struct schedulable *exchange_lifo(struct executor *executor)
{
    /* [L1] acquire pairs with the release in push_lifo; release for the order of the two stores. */
    return atomic_exchange_explicit(&executor->lifo, NULL, memory_order_acq_rel);
}

struct schedulable *theft_take_own_lifo(struct executor *executor)
{
    return has_lifo(executor) ? exchange_lifo(executor) : NULL;
}

/* True when the owner is in a turn. Acquire pairs with the release in run_turn: the owner's writes
 * before the turn are visible. */
static bool is_in_turn(struct executor *executor)
{
    return atomic_load_explicit(&executor->turns, memory_order_acquire) & 1;
}

/* [L2] After the barrier the owner is in a turn, and sees `raided` when it takes its next actor; or
 * it may be about to take one without a check of `raided`, and this thread takes nothing. */
static struct schedulable *take_lifo_of(struct executor *executor)
{
    struct schedulable *taken = NULL;

    if (!has_lifo(executor))
        return NULL;
    if (!executor->can_be_raided)
        return exchange_lifo(executor);
    lock_acquire(&executor->offline_lock);
    atomic_store_explicit(&executor->raided, true, memory_order_seq_cst);
    if (barrier_everywhere() && is_in_turn(executor))
        taken = exchange_lifo(executor);
    /* Release: the exchange comes before. */
    atomic_store_explicit(&executor->raided, false, memory_order_release);
    lock_release(&executor->offline_lock);
    return taken;
}

/* Takes the oldest spawned actor; retries when a thief takes it first. */
static struct schedulable *take_eldest(struct executor *executor)
{
    struct schedulable *eldest = NULL;

    while (!eldest && spawn_deque_count(&executor->spawned) > 0)
        eldest = spawn_deque_steal(&executor->spawned);
    return eldest;
}

/* `first`: the actor that runs next; NULL: none. */
static uint32_t hand_over(struct executor *executor, struct schedulable *first)
{
    struct schedulable *schedulable = first;
    uint32_t count = 0;

    /* Bounded: a running turn may wake actors as fast as they are taken. */
    while (count < HAND_OVER_MAX && (schedulable || (schedulable = ring_take(&executor->ring)) ||
                                     (schedulable = take_eldest(executor)))) {
        global_queue_push(&executor->dispatcher->global, schedulable);
        schedulable = NULL;
        count++;
    }
    return count;
}

uint32_t theft_hand_over(struct executor *executor)
{
    return hand_over(executor, theft_take_own_lifo(executor));
}

uint32_t theft_raid(struct executor *executor)
{
    return hand_over(executor, take_lifo_of(executor));
}
