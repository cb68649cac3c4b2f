/*
 * dispatch/ring.h - a thread's own run queue: one owner, any number of thieves.
 *
 * A ring of schedulables, first in first out. The owner pushes at the tail; owner and thieves take
 * from the head by a compare-and-swap; a thief takes half at once. Indices are 32 bits and run on,
 * so that a thief that slept cannot mistake an old head for a new one.
 *
 *                | push pop  | steal take
 *   push pop     |     X     |     -       X = the owner alone; - = any threads at once
 *   steal take   |     -     |     -       steal: `into` must be the thief's own ring
 */
#ifndef DISPATCH_RING_H
#define DISPATCH_RING_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct schedulable;

#define RING_CAPACITY 256 /* seed 2; a power of two */

struct ring {
    uint32_t mask;                     /* const; RING_CAPACITY - 1, smaller in tests */
    alignas(64) _Atomic uint32_t head; /* owner and thieves */
    alignas(64) _Atomic uint32_t tail; /* owner */
    _Atomic(struct schedulable *) slots[RING_CAPACITY]; /* owner writes, all read */
};

/* `capacity` is a power of two up to RING_CAPACITY. */
void ring_init(struct ring *ring, uint32_t capacity);

/* False when the ring is full. */
bool ring_push(struct ring *ring, struct schedulable *schedulable);

/* NULL when the ring is empty. */
struct schedulable *ring_pop(struct ring *ring);

/* As ring_pop, for any thread. */
struct schedulable *ring_take(struct ring *ring);

/* Moves half of `from`, rounded up, to `into`, and returns one of them; NULL when it is empty or
 * another thief was faster. */
struct schedulable *ring_steal(struct ring *from, struct ring *into);

/* Its length; of another thread's ring a guess. */
uint32_t ring_count(struct ring *ring);

#endif
