/*
 * dispatch/theft.h - a thread without work takes from the queues of other threads.
 *
 * Any thread of the dispatcher, any operation.
 */
#ifndef DISPATCH_THEFT_H
#define DISPATCH_THEFT_H

#include <stdbool.h>
#include <stdint.h>

struct dispatcher;
struct executor;
struct schedulable;

/* Checks the other threads once, from the one with index `first` modulo their number on, and takes
 * from the first that has work. NULL: none has. Owner. */
struct schedulable *theft_try(struct executor *executor, uint32_t first);

/* True when the global queue or a thread has work queued. */
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
