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

/* True when the pool is a group, and the message a TAKE. */
bool lease_group_takes(const struct pool *pool, const struct message *message);

#define LEASE_GROUP_MOST_FREE UINT32_MAX

/* Appends a TAKE to the queue of the group, which owns it on 0. WEIR_EFULL, WEIR_ECLOSED. `first`
 * is the number of the member to look at first, or LEASE_GROUP_MOST_FREE. Any thread, in a read
 * section. */
int lease_group_push(struct pool *group, struct executor *executor, struct message *take,
                     uint32_t first);

/* As pulling_put_back, for a TAKE that may be of the worker's group: then any worker of it gets the
 * TAKE. */
void lease_group_put_back(struct place *place, struct message *message);

/* As pulling_pass_on, for a pool and the group that it belongs to. */
void lease_group_pass_on(struct pool *pool, struct executor *executor);

/* Wakes a worker that sleeps if takers wait in a group. Any thread, in a read section. */
void lease_group_wake(struct pool *group, struct executor *executor);

#endif
