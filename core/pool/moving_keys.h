/* SPDX-License-Identifier: MIT */
/*
 * pool/moving_keys.h - when a pool with keys gets new workers, these wait for the old ones, whose
 * keys they get: actor/handover.h.
 *
 * With rendezvous hashing keys move to new workers only, never between two old ones. When workers
 * leave, their keys move at once.
 *
 * pool->lock is held in all functions.
 */
#ifndef POOL_MOVING_KEYS_H
#define POOL_MOVING_KEYS_H

struct executor;
struct handover;
struct list;
struct pool;

/* From the present members. NULL: nothing is to be handed over, or memory is out: then the keys
 * move at once. Returns owned. */
struct handover *moving_keys_begin_locked(struct pool *pool, const struct executor *executor);

/* The places wait for it; they have had no turn yet. */
void moving_keys_hold_locked(const struct list *places, struct handover *handover);

/* The present members are replaced next. Takes the handover, which may be NULL. */
void moving_keys_leave_locked(struct pool *pool, struct handover *handover);

#endif
