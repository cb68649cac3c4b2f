/*
 * pool/nesting.h - a pool among the members of another one: coming in, going out.
 *
 * Parents lock before children, always. The figures of a child stay with its parent when it goes. A
 * pool that has workers shows these to senders: nested pools that join it, or have not left it yet,
 * are of the time after the commit that is under way, or of before the last.
 */
#ifndef POOL_NESTING_H
#define POOL_NESTING_H

#include "pool/pool.h"

/* A pool that is being made joins its parent at once, if it has one. WEIR_ECLOSED, WEIR_ENOMEM. */
int nesting_join_new(struct pool *pool, struct executor *executor);

/* Publishes the nested pools of one whose members are pools; `next`, which has room for them, is
 * taken. parent->lock is held. */
void nesting_show_locked(struct pool *parent, struct members *next, struct executor *executor);

/* The next nested pool, from a number on, that is not closing; the number behind it is left there.
 * NULL: none. Of a pool that closes itself, which none joins any more. */
struct pool *nesting_next_open(struct pool *parent, uint32_t *order);

/* An ended pool leaves its parent. WEIR_ENOMEM: it stays among the members, where it answers
 * CLOSED. */
int nesting_leave(struct pool *pool, struct executor *executor);

#endif
