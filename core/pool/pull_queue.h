/* SPDX-License-Identifier: MIT */
/*
 * pool/pull_queue.h - what the queue of a pool counts, for the files that work on it: pulling.h,
 * and takers.h for its takers.
 *
 * Functions that end in _locked: the caller holds the lock of the queue.
 */
#ifndef POOL_PULL_QUEUE_H
#define POOL_PULL_QUEUE_H

#include "pool/pool.h"

/* Called after each change of `messages`. */
void pull_set_waiting_locked(struct pool *pool);

/* The bytes that count. The payload of a TAKE is core's. */
uint64_t pull_size_of(const struct message *message);

/* A message comes into the queue, or leaves it: its bytes, and whether it is a try. */
void pull_count_locked(struct pull_queue *pull, const struct message *message, bool comes);

/* The message is in the queue now. */
void pull_note_due_locked(struct pull_queue *pull, const struct message *message);

/* Counts a message that no member took. A TAKE is no message of the user: it counts as moved.
 * pool->lock is held. */
void pull_count_left_locked(struct pool *pool, const struct message *message);

static inline enum place_note pull_note_of(const struct place *place)
{
    /* Relaxed: written under the lock. */
    return (enum place_note)atomic_load_explicit(&place->noted, memory_order_relaxed);
}
/* The place is noted as free, which it was not, and it stops being that. */
void pull_note_free_locked(struct place *place);
void pull_unnote_locked(struct place *place, enum place_note note);

/* The pool, or its group, which may be NULL, in whose queue a message has waited longest. The locks
 * of both queues are held. */
struct pool *pull_first_locked(struct pool *pool, struct pool *group);
/* Takes the first message out of the queue; NULL: it is empty. */
struct message *pull_take_out_locked(struct pool *from);

/* The place's actor is to come to the queue `caller`. The lock of its own queue is held. */
void pull_call_locked(struct place *place, struct pull_queue *caller, uint64_t now_ns);
/* It does not count as coming any more. */
void pull_end_call_locked(struct place *place);

#endif
