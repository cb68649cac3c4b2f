/*
 * dispatch/births.h - what a thread has brought forth and not run yet: last in, first out.
 *
 * Who is born in a turn runs before what was there already, the youngest first, on the thread that
 * made it and where its first message is hot. So a tree of actors is walked depth first, and as
 * many of them live as it is deep, not as it is wide. Thieves take from the other end: the eldest,
 * with all that it will bring forth, one at a time.
 *
 *            | push pop  | steal
 *   push pop |     X     |   -      X = the owner alone; - = any threads at once
 *   steal    |     -     |   -
 */
#ifndef DISPATCH_BIRTHS_H
#define DISPATCH_BIRTHS_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct schedulable;

#define BIRTHS_CAPACITY 256 /* a power of two; what finds no room goes to the ring */

/* Chase and Lev's queue, with read-modify-writes instead of fences. Indices run on, as a ring's. */
struct births {
    alignas(64) _Atomic uint32_t head; /* eldest; thieves, and the owner for the last one */
    alignas(64) _Atomic uint32_t tail; /* owner */
    _Atomic(struct schedulable *) slots[BIRTHS_CAPACITY]; /* owner writes, all read */
};

void births_init(struct births *births);

/* False when there is no room. */
bool births_push(struct births *births, struct schedulable *schedulable);

/* The youngest; NULL when there is none. */
struct schedulable *births_pop(struct births *births);

/* The eldest; NULL when there is none, or another was faster. */
struct schedulable *births_steal(struct births *births);

/* How many wait; of another thread's a guess. */
uint32_t births_count(struct births *births);

#endif
