/* SPDX-License-Identifier: MIT */
/*
 * base/lock_order.h - the locks that a thread holds, and the check of their order. lock.h calls it
 * in builds with WEIR_CHECKS.
 *
 * A wrong order is a deadlock that has not happened yet. So it ends the program, with both places:
 *
 *     core/pool/figures.c:117: lock_acquire: Assertion `the order of locks: a pool (depth 1), and
 *     the thread holds the queue of a pool (depth 0) since core/pool/pulling.c:551' failed.
 *
 * All functions are about the locks of the calling thread.
 */
#ifndef BASE_LOCK_ORDER_H
#define BASE_LOCK_ORDER_H

#include <stdint.h>

#include "base/lock_rank.h"

/* Where a lock is acquired. */
struct lock_site {
    const char *file;
    unsigned line;
};

/* A part of a lock. */
struct lock_order {
    enum lock_rank rank;     /* const */
    uint32_t depth;          /* const */
    struct lock_site site;   /* its holder's: where it was acquired */
    struct lock_order *next; /* its holder's: the lock that the thread acquired before it */
};

/* Before the thread waits for the lock: each one that it holds comes before it. */
void lock_order_check(const struct lock_order *order, struct lock_site site);
/* The same, for one of several of the same rank and depth; the thread holds `parent`. */
void lock_order_check_beside(const struct lock_order *order, const struct lock_order *parent,
                             struct lock_site site);
/* Before the thread waits for a condition with this lock: it holds no other. */
void lock_order_check_only(const struct lock_order *order, struct lock_site site);
/* The thread holds none with a rank from `first` to `last`. */
void lock_order_check_none(enum lock_rank first, enum lock_rank last, struct lock_site site);

/* The thread holds the lock from now on. */
void lock_order_push(struct lock_order *order, struct lock_site site);
/* The thread is about to release the lock. */
void lock_order_pop(struct lock_order *order);

/* For a test that runs several strands on one thread. The thread gets the locks of another strand;
 * returns those of the former one. NULL: none. */
struct lock_order *lock_order_switch(struct lock_order *held);

#endif
