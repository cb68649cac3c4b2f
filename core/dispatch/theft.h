/* SPDX-License-Identifier: MIT */
/*
 * dispatch/theft.h - a thread without work takes work from the queues of other threads, if the work
 * is worth the move.
 *
 * An actor that moves to another CPU takes 4 to 10 cache lines along, at 50 to 250 ns each, and
 * from then on its senders' lines move between the CPUs. In a stream each message pays for that,
 * and an actor that runs for one short message costs more to move than to run. So a thread without
 * work takes less from two kinds of threads for some beats (press.h):
 *
 * - A thread is *pressed* when a sender on it lacks room, or gets some. A thief takes only work
 *   that the owner does not reach soon: an entry of a ring, or the oldest spawned actor, that was
 *   there THEFT_AGE_NS ago. The thief has notes of each other thread. For the same reason a
 *   sleeping thread is woken only when a pressed thread has queued work for THEFT_AGE_NS, by the
 *   number of its entries and its mean turn (dispatch/pace.h).
 * - A thread is *exempt* after THEFT_FAILURES thefts of a thief in a row that did not pay, the last
 *   one from this thread. No thread steals from it, or is woken for its queue. A theft pays if the
 *   messages that the thief then handled, until it had no more work, took longer on average than
 *   its thefts. On CPUs that are far apart a theft takes longer, and so does a message between
 *   them.
 *
 * From other threads a thief takes any work that it finds, and each push wakes a thread.
 *
 * These are guesses. The owner of a queue is awake and runs what no other thread takes. When its
 * turns become longer than the mean says, the timekeeper sees work that waits, and wakes a thread;
 * and it moves the queue of a turn that lasts for two beats to the global queue.
 *
 *                     | try take_lifo hand_over | has_waited | is_worth .. raid
 *   try .. hand_over  |           X             |     -      |    -   X = the owner of `executor`
 *   has_waited        |           -             |     X      |    -   X = the owner of `note`
 *   is_worth .. raid  |           -             |     -      |    -   - = any threads at once
 */
#ifndef DISPATCH_THEFT_H
#define DISPATCH_THEFT_H

#include <stdbool.h>
#include <stdint.h>

#include "dispatch/theft_note.h"

struct dispatcher;
struct executor;
struct schedulable;

/* Measured (docs/decisions/140): a round of 60 workers without work takes 69 us on one thread, when
 * all mailboxes are full; one of 8 workers that need 0.3 us a message takes 82 us. */
#define THEFT_AGE_NS 75000u
#define THEFT_FAILURES 2u   /* one may have met the end of the victim's work */
#define THEFT_NS_FIRST 400u /* before the first theft: between near and far CPUs */

/* Checks the other threads once, from the one with index `first` modulo their number on, and takes
 * from the first that has work which is worth it at `executor->now_ns`; then `now_ns` is read
 * again. NULL: none has. */
struct schedulable *theft_try(struct executor *executor, uint32_t first);

/* Judges the last theft, if it is not judged yet, by what the thread has done since. Owner, when it
 * has no more work; `now_ns` was read after that. */
void theft_judge(struct executor *executor);

/* As theft_judge, before the thread sleeps or leaves. Reads the clock if there is one to judge. */
void theft_end(struct executor *executor);

/* True when the queued work of `executor` keeps it busy for so long that others should help. */
bool theft_is_worth(struct executor *executor);

/* True when `executor` has queued something that it had queued at the last call, too, and another
 * thread may take it. */
bool theft_has_waited(struct theft_note *note, struct executor *executor);

/* True when a thread has work queued that another should take. */
bool theft_is_work_waiting(struct dispatcher *dispatcher);

/*
 * Takes the actor that runs next out of the thread's slot; NULL: none, or a raid took it first.
 * Owner, between two turns.
 *
 * The owner takes that actor before each turn, other threads only in a raid, when a turn is long.
 * So the raider carries the cost of their order: it sets `raided`, makes the owner pass a barrier
 * (barrier.h), and goes on only when the owner is in a turn. The owner marks the end of its turn,
 * and then reads `raided`; only when that is set it needs an exchange.
 */
static inline struct schedulable *theft_take_lifo(struct executor *executor);

/* As theft_take_lifo, also during a raid. */
struct schedulable *theft_take_own_lifo(struct executor *executor);

/* Moves the queued actors of the executor to the global queue of its dispatcher; returns their
 * number. Owner, between two turns. */
uint32_t theft_hand_over(struct executor *executor);

/* As theft_hand_over, by any other thread while the owner is in a turn. Actors that the owner adds
 * at the same time may stay. */
uint32_t theft_raid(struct executor *executor);

#include "dispatch/layout.h"

static inline struct schedulable *theft_take_lifo(struct executor *executor)
{
    struct schedulable *schedulable;

    /* [L2] The store of `turns` that ended the last turn comes before: the compiler keeps the
     * order, the processor does by the raider's barrier. */
    atomic_signal_fence(memory_order_seq_cst);
    /* Acquire: after a raid its result is visible. */
    if (__builtin_expect(atomic_load_explicit(&executor->raided, memory_order_acquire), false))
        return theft_take_own_lifo(executor);
    /* Relaxed, both: only this thread changes it between two turns. [L2] The release of `turns`
     * that begins the next turn publishes the store. */
    schedulable = atomic_load_explicit(&executor->lifo, memory_order_relaxed);
    if (schedulable)
        atomic_store_explicit(&executor->lifo, NULL, memory_order_relaxed);
    return schedulable;
}

#endif
