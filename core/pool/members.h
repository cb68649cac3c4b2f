/* SPDX-License-Identifier: MIT */
/*
 * pool/members.h - the members of a pool for senders: an immutable array.
 */
#ifndef POOL_MEMBERS_H
#define POOL_MEMBERS_H

#include "dispatch/reclaim.h"

#include <weir/message.h>

struct actor;
struct handover;
struct pool;

struct member {
    struct actor *actor; /* a worker's; NULL for a nested pool */
    struct pool *pool;   /* a nested pool; NULL for a worker */
    uint32_t serial;     /* of the worker */
    uint32_t index;      /* the worker's number, or the nested pool's number among its siblings */
    uint32_t seat;       /* the worker's: the lowest that was free when it became a member */
};

struct members {
    struct retired retired;
    struct handover *handover; /* to the members that replace these; NULL: none */
    uint32_t count;
    struct member members[]; /* in the order of their numbers */
};

/* NULL when memory is out. Returns owned. */
struct members *members_create(uint32_t count);
/* NULL is allowed. */
void members_destroy(struct members *members);

/* Publishes `next`, which it takes, and retires the old array. Cannot fail. */
void members_publish(_Atomic(struct members *) *slot, struct members *next, struct reader *reader);

#endif
