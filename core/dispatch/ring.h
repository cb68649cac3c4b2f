/* SPDX-License-Identifier: MIT */
/*
 * dispatch/ring.h - a thread's own run queue: one owner, any number of thieves.
 *
 * A ring of schedulables, first in first out. The owner pushes at the tail; owner and thieves take
 * from the head by a compare-and-swap; a thief takes half at once. Indices are 32 bits and run on,
 * so that a thief that slept cannot mistake an old head for a new one.
 *
 *                     | push pop  | steal take aged
 *   push pop          |     X     |     -       X = the owner alone; - = any threads at once
 *   steal take aged   |     -     |     -       steal: `into` must be the thief's own ring
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

/* An observation of another thread's ring. Zeroed: none yet. */
struct ring_note {
    uint64_t since_ns;
    uint32_t tail; /* at that time */
};

/* `capacity` is a power of two up to RING_CAPACITY. */
void ring_init(struct ring *ring, uint32_t capacity);

/* False when the ring is full. */
bool ring_push(struct ring *ring, struct schedulable *schedulable);

/* NULL when the ring is empty. */
struct schedulable *ring_pop(struct ring *ring);

/* As ring_pop, for any thread. */
struct schedulable *ring_take(struct ring *ring);

/* Moves half of `from`, rounded up, but no more than `most`, to `into`, and returns one of them;
 * NULL when there is none, `into` has too little room, or another thread was faster. */
struct schedulable *ring_steal(struct ring *from, struct ring *into, uint32_t most);

/*
 * How many entries, counted from the head, were in the ring when `note` was made, `age_ns` or more
 * before `now_ns`. When none of the noted entries is left, the function makes the note again and
 * answers 0. The note belongs to the calling thread.
 */
uint32_t ring_aged(struct ring *ring, struct ring_note *note, uint64_t now_ns, uint64_t age_ns);

/* Its length; of another thread's ring a guess. */
uint32_t ring_count(struct ring *ring);

#endif
