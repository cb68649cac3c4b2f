/* SPDX-License-Identifier: MIT */
/*
 * pool/takers.h - the takers in the queue of a pool that gives leases: how many have room, and how
 * those end that are not served.
 *
 * A taker has room while a member is not in use: it sleeps, was woken, or is on its way back after
 * a return, and not late; or it opens, or the pool may start it. Other takers wait, up to the limit
 * of the queue. A *try*, a take with the time-out 0, has room for members alone that sleep or come
 * at once. It ends when there are more messages before it than such members: with the turn of the
 * member that does not come to serve it, or when that is late.
 *
 * As pulling.h, whose lock this is.
 */
#ifndef POOL_TAKERS_H
#define POOL_TAKERS_H

#include "actor/wanted.h"
#include "pool/pool.h"

/* Members that are not in use: they sleep, or come to the queue; if not `at_once`, also those that
 * open, and that the pool may start by itself. pool->pull.lock is held. */
uint64_t takers_unused_locked(const struct pool *pool, bool at_once);

/* Takes out tries and counts them, so that `unused` members can serve all others. The locks of the
 * pool and of its queue are held. */
struct message_list takers_take_tries_locked(struct pool *pool, uint64_t unused);
/* Answers them, without the lock. */
void takers_refuse_tries(struct pool *pool, struct executor *executor, struct message_list *tries);

/* The number of takers, or of tries, that have room. pool->pull.lock is held. */
uint64_t takers_room_locked(const struct pool *pool, bool tries);

/* The member comes to the queue: `at_once`, after its lease was returned, or when it is open. Until
 * then, or until it is late, it counts as room for a taker. Any thread. */
void takers_come(struct place *place, bool at_once, uint64_t now_ns);

/* Since a member was called, it counts for so long as room, for tries, and as capacity: it comes in
 * microseconds, unless it hangs or has something left to do. The beat of unwanted.h is the time
 * between two checks. */
#define TAKERS_LATE_NS WANTED_BEAT_NS

enum takers_coming {
    TAKERS_NOT_CALLED,
    TAKERS_COMES,
    TAKERS_LATE, /* it does not count: it is in use */
};
/* Whether a member comes to a queue of takers. Any thread. */
enum takers_coming takers_coming(const struct place *place, uint64_t now_ns);

/* The members of the pool that are late do not count any more. True: there were some, so tries may
 * wait for them. pool->lock is held. */
bool takers_give_up_late_locked(struct pool *pool, uint64_t now_ns);

/* Answers tries for which no member comes any more. Any thread. */
void takers_drop_tries(struct pool *pool, struct executor *executor);

/* A TAKE that ends without a lease, after it was counted as left. Takes it. */
void takers_refuse(struct pool *pool, struct executor *executor, struct message *take, int status);

#endif
