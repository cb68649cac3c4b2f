/* SPDX-License-Identifier: MIT */
/*
 * pool/lease_group.h - a pool of pools that gives leases: a take of any member below it.
 *
 * A group has `lease` and no workers; its members are pools of workers with `lease`. A taker waits
 * in the group's own queue (pulling.h), first in, first out. A worker that is free takes from the
 * queue of its pool or of the group, whichever has the message that has waited longest; so no taker
 * waits in one pool while another has a free worker. The lease is one of the worker's own pool: the
 * return goes there.
 *
 * Rank: the lock of the group's queue comes before that of a member's queue. A worker notes itself
 * as idle under both, and a sender looks for idle workers under the first: so no wake-up is lost.
 */
#ifndef POOL_LEASE_GROUP_H
#define POOL_LEASE_GROUP_H

#include "pool/pool.h"
#include "pool/scale_law.h"

/* True when the pool is a group, and the message a TAKE. */
bool lease_group_takes(const struct pool *pool, const struct message *message);

#define LEASE_GROUP_MOST_FREE UINT32_MAX

/* Appends a TAKE to the queue of the group, which owns it on 0. WEIR_EFULL: also when each pool is
 * paused, or its workers have all stopped. WEIR_ECLOSED. `first`
 * is the number of the member to look at first, or LEASE_GROUP_MOST_FREE. Any thread, in a read
 * section. */
int lease_group_push(struct pool *group, struct executor *executor, struct message *take,
                     uint32_t first);

/* The member with the number `first`, or, if that has no free worker, or `first` is
 * LEASE_GROUP_MOST_FREE, the one with most of them; there is a member. NULL: it is no pool. Any
 * thread. */
struct pool *lease_group_choose(const struct members *members, uint32_t first);

/* As pulling_put_back, for a TAKE that may be of the worker's group: then any worker of that group
 * gets the TAKE. */
void lease_group_put_back(struct place *place, struct message *message);

/* Another member is to serve this TAKE of the place, whose actor hangs: one that sleeps, or one
 * that a pool starts. Takes it. Any thread that holds the thread of the actor. */
void lease_group_hand_on(struct place *place, struct message *take, struct executor *executor);

/* As pulling_pass_on, for a pool and the group that it belongs to. */
void lease_group_pass_on(struct pool *pool, struct executor *executor);

/* A beat of a group whose takers wait: members that are late do not count, and the pools check
 * whether they grow. `pool` may be any pool. In its turn. */
void lease_group_look(struct pool *pool, struct executor *executor, uint64_t now_ns);

/* Called when pools have become members of the group: wakes a worker that sleeps if takers wait,
 * which did not find these pools when they came. `group` may be any pool. Any thread, in a read
 * section. */
void lease_group_joined(struct pool *group, struct executor *executor);

/* --- growth of a pool that scales itself; pool->lock is held, in a read section --------------- */

/* The growth of a pool for the takers of its group. */
struct group_growth {
    struct pull_queue *queue; /* of the group; NULL: the pool is in none */
    uint32_t planned;         /* workers that are to open for its takers */
    bool waits;               /* takers wait there */
    bool is_stuck;            /* set by the caller: workers of the pool are late to open */
};

/* The verdict of the law. Takers of the group count for which no worker of any pool comes yet;
 * pools of a group decide one after the other, so that one taker starts one worker. A pool that is
 * stuck leaves them to the others, if one of these is able to grow. */
struct scale_verdict lease_group_decide_locked(struct pool *pool, const struct scale_law *law,
                                               struct scale_figures *figures, uint64_t now_ns,
                                               struct group_growth *growth);

/* After the verdict was carried out, whether it could be or not. */
void lease_group_grown_locked(struct pool *pool, const struct group_growth *growth);

/* The pool has its maximum, or its workers fail to open: asks the others of its group for checks.
 * Without the lock. */
void lease_group_ask_others(struct pool *pool, struct executor *executor);

/* The pool is paused, or goes on: other pools of its group grow for the takers, or its own workers
 * serve them. Without the lock. */
void lease_group_paused(struct pool *pool, bool paused, struct executor *executor);

/* Called when all workers of the pool may have stopped, or when it closes. The messages in the
 * queue of a pool that has stopped become dead. When all pools of its group have stopped, the
 * takers of the group are refused. Without the lock. */
void lease_group_stopped(struct pool *pool, struct executor *executor);

/* The group is to close after its pools. When these all close, it refuses takers: those that wait,
 * and new ones. No effect on other pools. Any thread, in a read section. */
void lease_group_end(struct pool *group, struct executor *executor);

/* A worker of the pool for which something may wait has ended or failed: wakes another worker, or
 * asks for checks of the pools that could grow. Without the lock. */
void lease_group_missed(struct pool *pool, struct executor *executor);

#endif
