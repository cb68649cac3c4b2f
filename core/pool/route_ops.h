/* SPDX-License-Identifier: MIT */
/*
 * pool/route_ops.h - the differences between the routes of pools: one row for each route. The rows
 * and their functions are in route.c.
 */
#ifndef POOL_ROUTE_OPS_H
#define POOL_ROUTE_OPS_H

#include "pool/pool.h"

struct attempt;
struct executor;

/* The members that are tried for a message to one of them: `count` from number `first` on, in a
 * circle. */
struct route_choice {
    uint32_t first;
    uint32_t count; /* 0: no member could ever take the message */
};

struct route_ops {
    /* Tries the members of a pool that accepts messages, as route_message. `epoch` was read before
     * the members were. */
    int (*try_members)(struct pool *pool, const struct members *members, uint64_t epoch,
                       struct attempt *attempt);
    /* Of at least one member. */
    struct route_choice (*choose)(struct pool *pool, const struct members *members,
                                  struct executor *executor, const struct message *message);
    /* The number of messages that the members would take now: see route_room. */
    uint32_t (*room)(struct pool *pool, const struct members *members);

    bool in_turn;      /* the members get messages in turn: several may go to one at once */
    bool compares;     /* the loads of members: load.h */
    bool has_keys;     /* the key of a message determines the member */
    bool copies;       /* each member gets a copy */
    bool pulls;        /* the workers take from one queue of the pool: pulling.h */
    bool prefers_free; /* the member with the most idle workers comes first in a group of leases */
};

extern const struct route_ops route_table[]; /* by enum weir_route */

/* Any thread. The route may change at any time. */
static inline const struct route_ops *route_ops_of(const struct pool *pool)
{
    return &route_table[flags_route(&pool->flags)];
}

/* True when any member may get any message that is meant for one of them. */
static inline bool route_takes_any(const struct route_ops *ops)
{
    return !ops->has_keys && !ops->copies;
}

#endif
