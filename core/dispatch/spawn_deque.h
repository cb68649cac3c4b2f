/* SPDX-License-Identifier: MIT */
/*
 * dispatch/spawn_deque.h - the spawn deque: a thread's newly spawned actors, last in, first out.
 *
 * Actors spawned in a turn run before older work, the youngest first, on the thread that made them,
 * where their first message is in the cache. So a tree of actors is walked depth first, and the
 * number of living actors grows with its depth, not with its width. Thieves take from the other
 * end, one at a time: the eldest, with all that it will spawn.
 *
 *              | push pop  | steal aged
 *   push pop   |     X     |     -       X = the owner alone; - = any threads at once
 *   steal aged |     -     |     -
 */
#ifndef DISPATCH_SPAWN_DEQUE_H
#define DISPATCH_SPAWN_DEQUE_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct schedulable;

#define SPAWN_DEQUE_CAPACITY 256 /* a power of two; further ones go to the ring */

/* The deque of Chase and Lev, with read-modify-writes instead of fences. Indices run on, as a
 * ring's. */
struct spawn_deque {
    alignas(64) _Atomic uint32_t head; /* eldest; thieves, and the owner for the last one */
    alignas(64) _Atomic uint32_t tail; /* owner */
    _Atomic(struct schedulable *) slots[SPAWN_DEQUE_CAPACITY]; /* owner writes, all read */
};

/* An observation of another thread's deque. Zeroed: none yet. */
struct spawn_note {
    uint64_t since_ns;
    uint32_t eldest; /* the index of the eldest at that time, if there is any */
    bool is_any;
};

void spawn_deque_init(struct spawn_deque *deque);

/* False when there is no room. */
bool spawn_deque_push(struct spawn_deque *deque, struct schedulable *schedulable);

/* Owner: only it adds, so an empty deque stays so. */
static inline bool spawn_deque_is_empty(const struct spawn_deque *deque)
{
    return atomic_load_explicit(&deque->tail, memory_order_relaxed) ==
           atomic_load_explicit(&deque->head, memory_order_relaxed);
}

/* The youngest; NULL when there is none. */
struct schedulable *spawn_deque_pop(struct spawn_deque *deque);

/* The eldest; NULL when there is none, or another was faster. */
struct schedulable *spawn_deque_steal(struct spawn_deque *deque);

/* True when the eldest was there when `note` was made, `age_ns` or more before `now_ns`. When
 * another is the eldest now, or there is none, the function makes the note again. The note belongs
 * to the calling thread. */
bool spawn_deque_aged(struct spawn_deque *deque, struct spawn_note *note, uint64_t now_ns,
                      uint64_t age_ns);

/* Their number; of another thread's deque a guess. */
uint32_t spawn_deque_count(struct spawn_deque *deque);

#endif
