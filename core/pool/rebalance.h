/* SPDX-License-Identifier: MIT */
/*
 * pool/rebalance.h - growth shares the backlog: a worker with waiting messages gives a part of them
 * to members that have less to do.
 *
 * When workers that growth has made are open, the pool asks each member whose mailbox is not empty.
 * A member that was asked gives at its next message boundary, in its own turn: it takes messages
 * from the head of its mailbox, in order, and gives them to idle members, then to the others in
 * turn, until it has no more than they have. A message stays that was sent to the member itself,
 * or that is a copy of a broadcast. Pools that route by hash, broadcast or pull do not share.
 *
 * A member whose callback takes long reaches no boundary. While another member is idle, the
 * timekeeper gives in its place, at each beat (actor/relief.h).
 *
 * Cost: a pool asks once for each sixteenth of its size that has opened, and when all have tried; a
 * member looks at REBALANCE_LOOKS others.
 */
#ifndef POOL_REBALANCE_H
#define POOL_REBALANCE_H

#include <stdbool.h>
#include <stdint.h>

struct executor;
struct list;
struct place;
struct pool;

/* The first open of a worker that growth has made. */
enum place_fresh {
    FRESH_NOT,     /* it has opened, or growth has not made the worker */
    FRESH_OPENING, /* it has no result yet */
    FRESH_FAILED,  /* it has failed; another open follows */
};

/* pool->lock is held in all of these. */

/* Growth has made the places. */
void rebalance_made_locked(struct pool *pool, const struct list *made);
/* A place that left before its first open has a result is a member again. */
void rebalance_recalled_locked(struct pool *pool, struct place *place);
/* A place of the pool is open; its open has failed; it leaves. */
void rebalance_opened_locked(struct pool *pool, struct place *place, struct executor *executor);
void rebalance_failed_locked(struct pool *pool, struct place *place);
void rebalance_left_locked(struct pool *pool, struct place *place, struct executor *executor);
/* Asks the members for messages: others have no work. */
void rebalance_ask_locked(struct pool *pool, struct executor *executor);

/* In the turn of the place's worker, which may have been asked. As `give` of struct owner_ops. */
void rebalance_give(struct place *place);

/* Whether members of the pool give messages to each other. */
bool rebalance_shares(const struct pool *pool);

/* Gives messages of the place's worker, which takes none now, to idle members: in its own turn, or
 * as `relieve` of struct owner_ops. False: members are idle, and no message may go. */
bool rebalance_relieve(struct place *place, struct executor *executor);

#endif
