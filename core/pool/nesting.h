/* SPDX-License-Identifier: MIT */
/*
 * pool/nesting.h - a pool among the members of another one: joining, leaving.
 *
 * Parents lock before children, always. The parent keeps the figures of a child that leaves. A pool
 * with workers publishes these to senders: nested pools among its children have joined for a commit
 * under way, or have not ended since an earlier commit.
 */
#ifndef POOL_NESTING_H
#define POOL_NESTING_H

#include "pool/pool.h"

/* A new pool joins its parent at once, if it has one. WEIR_ECLOSED, WEIR_ENOMEM. */
int nesting_join_new(struct pool *pool, struct executor *executor);

/* Adds a pool to the members of its parent, which has room. parent->lock is held. */
void nesting_add_locked(struct pool *parent, struct pool *pool);

/* Publishes the nested pools of a pool whose members are pools; takes `next`, which has room for
 * them. parent->lock is held. */
void nesting_show_locked(struct pool *parent, struct members *next, struct executor *executor);

/* The next nested pool, from number `*order` on, that is not closing; `*order` becomes the number
 * after it. NULL: none. For a closing pool, which no other pool joins any more. */
struct pool *nesting_next_open(struct pool *parent, uint32_t *order);

/* An ended pool leaves its parent. WEIR_ENOMEM: it stays among the members, and refuses with
 * CLOSED. */
int nesting_leave(struct pool *pool, struct executor *executor);

/* A parent whose members still show an ended pool keeps it until the parent itself is freed. */
void nesting_lose(struct pool *pool);

#endif
