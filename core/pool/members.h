/* SPDX-License-Identifier: MIT */
/*
 * pool/members.h - the members of a pool for senders: an immutable array.
 *
 * An array that only adds members behind those of the last published one stands in the same memory,
 * while that has room: so the cost of a pool that grows does not depend on its size. Its first
 * members are not written again; senders that still have the former array read no further.
 */
#ifndef POOL_MEMBERS_H
#define POOL_MEMBERS_H

#include <stdbool.h>

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
    bool is_dense;          /* workers: each has its index in the array as its number and seat */
    struct member *members; /* in the order of their numbers */
    struct members *memory; /* const: which has them; itself, if it shares no other's */
    uint32_t room;          /* const: of `own` */
    uint32_t used;          /* written by members_publish: of the newest array in `own` */
    _Atomic uint32_t users; /* arrays in `own`; its own is one of them */
    struct member own[];
};

/* NULL when memory is out. Returns owned. */
struct members *members_create(uint32_t count);
/* As members_create, with the members of `present`, the published array, in front; `count` is not
 * less than theirs. */
struct members *members_extend(struct members *present, uint32_t count);
/* NULL is allowed. */
void members_destroy(struct members *members);

/* Publishes `next`, which it takes, and retires the old array. Cannot fail. */
void members_publish(_Atomic(struct members *) *slot, struct members *next, struct reader *reader);

#endif
