/*
 * dispatch/theft.h - a thread without work takes from the queues of other threads what is worth it.
 *
 * An actor that moves to another CPU takes 4 to 10 cache lines along, at 50 to 250 ns each, and
 * moves its senders' lines to and fro from then on. A stream pays for that with each message. It is
 * noticed by senders that lack room: their thread is *pressed* (executor_press) for
 * THEFT_PRESSED_BEATS. From a pressed thread a thief takes only work that the owner does not get to
 * soon: an entry of a ring that was there THEFT_AGE_NS ago. The thief has one note of each other
 * thread. For the same reason a sleeping thread is woken only when the ring of a pressed thread
 * holds work for THEFT_AGE_NS, by the number of its entries and its mean turn (dispatch/pace.h).
 *
 * Where no sender lacks room, and for spawned actors, which may be roots of large trees, a thief
 * takes what it finds, and each push wakes a thread.
 *
 * These are guesses. The owner of a queue is awake and runs what no other thread takes; when its
 * turns become longer than the mean says, the timekeeper sees work that waits, and wakes a thread.
 *
 *                 | try | has_waited | is_worth .. hand_over
 *   try           |  X  |     -      |    -         X = the owner of `executor` alone
 *   has_waited    |  -  |     X      |    -         X = the owner of `note` alone
 *   is_worth ..   |  -  |     -      |    -         - = any threads at once
 */
#ifndef DISPATCH_THEFT_H
#define DISPATCH_THEFT_H

#include <stdbool.h>
#include <stdint.h>

#include "dispatch/ring.h"

struct dispatcher;
struct executor;
struct schedulable;

/* Measured (docs/decisions/140): with 20 us the two threads of a stream go on stealing its actors
 * from each other; with 100 us they do not, and a round of actors with 1 us of work a message is
 * older than that. */
#define THEFT_AGE_NS 100000u
#define THEFT_PRESSED_BEATS 4u /* a stream whose mailbox is full is refused many times in them */

/* Checks the other threads once, from the one with index `first` modulo their number on, and takes
 * from the first that has work which is worth it at `executor->now_ns`. NULL: none has. */
struct schedulable *theft_try(struct executor *executor, uint32_t first);

/* True when the queued work of `executor` keeps it busy for so long that others should help. */
bool theft_is_worth(struct executor *executor);

/* True when `executor` has queued something that it had queued at the last call, too. */
bool theft_has_waited(struct ring_note *note, struct executor *executor);

/* True when a thread has work queued that another should take. */
bool theft_is_work_waiting(struct dispatcher *dispatcher);

/* Takes the actor that runs next on a thread out of its slot; NULL: none, or another thread took
 * it first. */
struct schedulable *theft_take_lifo(struct executor *executor);

/*
 * Moves the queued actors of the executor to the global queue of its dispatcher; returns their
 * number. Any thread. Actors that the owner adds at the same time may stay.
 */
uint32_t theft_hand_over(struct executor *executor);

#endif
